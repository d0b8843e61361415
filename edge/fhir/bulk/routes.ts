/** The routes that begin exports, report their status and send their files (FHIR Bulk Data Access 2.0.0). */
import type { Handler } from 'hono';

import type { ResourceType } from '../../../shared/resource-type.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { acceptedNdjson } from '../media-type.ts';
import type { Serve } from '../serve.ts';
import { ID_SEGMENT } from '../unsupported-address.ts';
import { prepareFile } from './file.ts';
import { prepareKickOff } from './kick-off.ts';
import type { Level } from './parameters.ts';
import { prepareCancel, prepareStatus } from './status.ts';

/** The router reads a plain $ as an anchor. */
const EXPORT = ':operation{\\$export}';
const KICK_OFFS: readonly (readonly [path: string, level: Level])[] = [
  [`/fhir/${EXPORT}`, 'system'],
  [`/fhir/Patient/${EXPORT}`, 'patient'],
  [`/fhir/Group/:id{${ID_SEGMENT}}/${EXPORT}`, 'group'],
];
const STATUS = `/fhir/${EXPORT}/:id`;
const FILE = `${STATUS}/:file`;

export function addBulkExport(
  app: Surface,
  serve: Serve,
  notAllowed: (allow: string) => Handler<GatewayEnv>,
  types: readonly ResourceType[],
): void {
  for (const [path, level] of KICK_OFFS) {
    if (level === 'group' && !types.includes('Group')) continue;
    app.on(['GET', 'POST'], path, (c) => serve(c, (call) => prepareKickOff(call, level)));
    app.all(path, notAllowed('GET, POST'));
  }
  app.get(STATUS, (c) => serve(c, prepareStatus));
  app.delete(STATUS, (c) => serve(c, prepareCancel));
  app.all(STATUS, notAllowed('GET, HEAD, DELETE'));
  app.get(FILE, (c) => serve(c, (call) => prepareFile(call, c.req.param('file'), c.get('requestId')), acceptedNdjson));
  app.all(FILE, notAllowed('GET, HEAD'));
}
