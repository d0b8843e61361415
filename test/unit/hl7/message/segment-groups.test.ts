import { expect, test } from 'vitest';

import { groupsOf } from '../../../../edge/hl7/message/segment-groups.ts';
import { readMessage } from '../../../../shared/hl7/message.ts';

test('segments are split before every head of a group', () => {
  const message = readMessage('MSH|^~\\&|A\rPID|1\rZPI|own\rOBR|1\rOBX|1\rNTE|1\rOBX|2\rOBR|2\rOBX|1');
  const ids = groupsOf(message.segments, ['OBR']).map(({ head, members }) => [
    head?.id,
    ...members.map(({ id }) => id),
  ]);
  expect(ids).toEqual([
    [undefined, 'MSH', 'PID', 'ZPI'],
    ['OBR', 'OBX', 'NTE', 'OBX'],
    ['OBR', 'OBX'],
  ]);
});
