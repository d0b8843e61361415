/** `npm run -s mllp FILE`: sends a file's message over MLLP to the running local stack and prints the ACK. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

import { runProgram, UsageError } from '../../../edge/platform/node/program.ts';
import { connectionError, readStack } from './local.ts';

await runProgram('usage: npm run -s mllp FILE', async () => {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new UsageError('FILE is missing');
  const { mllp } = await readStack();
  const message = await readFile(file);
  const socket = connect(mllp.port, mllp.host);
  // MLLP: VT, the message, FS, CR (HL7 v2 Implementation Guide, appendix C).
  socket.write(Buffer.concat([Buffer.from([0x0b]), message, Buffer.from([0x1c, 0x0d])]));
  let answer = '';
  try {
    for await (const chunk of socket) {
      answer += String(chunk);
      if (answer.endsWith('\u001c\r')) break;
    }
  } catch (error) {
    throw connectionError(error);
  }
  if (answer === '') throw new Error('the sidecar closed the connection without an ACK: its log is .local/sidecar.log');
  process.stdout.write(answer.replace('\u000b', '').replace('\u001c\r', '').replaceAll('\r', '\n'));
});
