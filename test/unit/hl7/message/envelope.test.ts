/** One message a body: other content is reported and rejected. */
import { expect, test } from 'vitest';

import { envelopeFault } from '../../../../edge/hl7/message/envelope.ts';
import { readMessage, type Message } from '../../../../shared/hl7/message.ts';

const MSH = 'MSH|^~\\&|APP|FAC|RAPP|RFAC|20260102030405+0100||ADT^A01^ADT_A01|ID-1|P|2.5.1';
const envelopeOf = (message: Message) => envelopeFault(message)?.code?.replace('-', ' ') ?? 'message';

test.each([
  ['one message', `${MSH}\rPID|1`, 'message', undefined, undefined],
  ['a file of batches', `FHS|^~\\&|A\r${MSH}`, 'batch', '200', 'FHS^1'],
  ['a batch', `BHS|^~\\&|A\r${MSH}`, 'batch', '200', 'BHS^1'],
  ['two messages', `${MSH}\rPID|1\r${MSH}`, 'several messages', '100', 'MSH^2'],
  ['a part that another continues', `${MSH}\rPID|1\rDSC|P1|F`, 'message fragment', '100', 'DSC^1^1'],
  ['a DSC without a pointer', `${MSH}||X\rPID|1\rDSC||`, 'message', undefined, undefined],
])('%s', (_, text, envelope, code, at) => {
  const message = readMessage(text);
  expect(envelopeOf(message)).toBe(envelope);
  expect(envelopeFault(message)?.issues[0]?.code).toBe(code);
  expect(envelopeFault(message)?.issues[0]?.at).toBe(at);
});
