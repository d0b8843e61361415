/** A minimal HTTP server in a separate process. */
import { once } from 'node:events';
import { createServer } from 'node:http';

import { serveForked } from './forked.ts';

const server = createServer((_, response) => response.end('{"ok":true}')).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
serveForked(typeof address === 'object' ? (address?.port ?? 0) : 0);
