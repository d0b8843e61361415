/** `npm run -s mllp FILE`: sends a file's message over MLLP to the running local stack and prints the ACK. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

import { helpOn } from '../../../edge/platform/node/program.ts';
import { STACK_FILE, type StackDescription } from './local.ts';

const USAGE = 'usage: npm run -s mllp FILE';
helpOn(USAGE);
const file = process.argv[2];
if (file === undefined) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(1);
}
const stack = JSON.parse(await readFile(STACK_FILE, 'utf8')) as StackDescription;
const message = await readFile(file);
const socket = connect(stack.mllp.port, stack.mllp.host);
// MLLP: VT, the message, FS, CR (HL7 v2 Implementation Guide, appendix C).
socket.write(Buffer.concat([Buffer.from([0x0b]), message, Buffer.from([0x1c, 0x0d])]));
let answer = '';
for await (const chunk of socket) {
  answer += String(chunk);
  if (answer.endsWith('\u001c\r')) break;
}
process.stdout.write(answer.replace('\u000b', '').replace('\u001c\r', '').replaceAll('\r', '\n'));
