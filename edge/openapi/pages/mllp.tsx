/** HL7 over MLLP for developers of senders: address, frame, answers, time limits, retries. */
import { ERROR_CODES, applicationCodeFor } from '../../../shared/hl7/error-code.ts';
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { MLLP_DEFAULTS } from '../../../shared/mllp-contract.ts';
import { Code, Section, Table } from '../../admin/web/ui.tsx';
import { mllpProgram } from '../../examples/mllp.ts';
import { exampleMessage } from '../../examples/requests.ts';
import { referencePath, type Site, TextPage } from './frame.tsx';

/** MSA-1 (table 0008), with what the sender does then. */
const ACKS = [
  ['AA', 'The message and its changes are stored.', 'Send the next message.'],
  ['AE', 'The message has an error; see ERR.', 'Fix it, at the sender or in the settings, and send the message again.'],
  [
    'AR',
    'The type, version, processing id or sender of the message is not accepted.',
    'Ask the administrator of the key. Send the message again after a change of the settings.',
  ],
  ['CA, CE, CR', 'The same as an accept acknowledgement, if MSH-15 requests one.', 'As with AA, AE, AR.'],
] as const;

const minutes = (seconds: number): string => (seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`);

export const MllpPage = ({ site }: { site: Site }) => {
  const {
    INTEGRATION_HL7_MTTP_DOMAIN: host,
    INTEGRATION_HL7_MTTP_PORT: port,
    HL7_MAX_MESSAGE_BYTES: max,
    HL7_MAX_TEXT_BYTES: maxText,
  } = site.config;
  const isThere = host !== undefined && port !== undefined;
  const [sendTo, sendAt] = isThere ? [host, port] : ['mllp.example.org', MLLP_DEFAULTS.port];
  return (
    <TextPage site={site} page="mllp" heading="HL7 over MLLP">
      <p class="lead">
        Messages of HL7 v2 over TCP, in the Minimal Lower Layer Protocol. No token is used: the sender is known by its
        address, by its certificate where there is one, and by MSH-3 and MSH-4.
      </p>
      <Section id="address" title="Address">
        <p>
          {isThere ? (
            <code>{`${host}:${port}`}</code>
          ) : (
            'This deployment has no MLLP listener. It accepts the same messages over HTTP.'
          )}
        </p>
        <p>
          The API key must list the protocol <code>hl7-mllp</code> and allow the address that you connect from. If it
          names MSH-3, MSH-4 or the subject of a certificate, those of your messages must be equal. Ask the
          administrator of the key whether the connection is TLS.
        </p>
      </Section>
      <Section id="frame" title="Frame">
        <p>
          Each message is one frame: the byte <code>0B</code> (VT), the message with its segments ended by{' '}
          <code>0D</code> (CR), then <code>1C 0D</code> (FS CR). Answers come in frames too, in the order of the
          messages; more messages may be sent before the first answer. A message has {Math.round(max / 1024)} KiB at
          most, and {Math.round(maxText / 1024)} KiB without its base64 documents (OBX-5 of type ED). A batch (FHS, BHS)
          is accepted over HTTP only.
        </p>
        <Code text={mllpProgram(sendTo, sendAt, exampleMessage()).trimEnd()} label="A message over MLLP in Python" />
      </Section>
      <Section id="ack" title="Acknowledgement">
        <Table
          label="MSA-1"
          rows={ACKS}
          columns={{
            'MSA-1': ([code]) => <code>{code}</code>,
            Meaning: ([, means]) => means,
            'What to do': ([, , next]) => next,
          }}
        />
        <p>
          MSA-2 is your MSH-10. Each ERR has the place (ERR-2), a code of table 0357 (ERR-3), the severity E, W or I
          (ERR-4), the gateway’s own stable code (<a href="#reasons">ERR-5</a>), the request id of an error (ERR-7) and
          a sentence without patient data (ERR-8). Senders of versions before 2.5 get the ERR of their version.
        </p>
      </Section>
      <Section id="errors" title="ERR-3, table 0357">
        <Table
          label="ERR-3"
          rows={Object.entries(ERROR_CODES).filter(([code]) => code !== '0')}
          columns={{
            Code: ([code]) => <code>{code}</code>,
            Meaning: ([, meaning]) => meaning,
            'As an error it makes': ([code]) => applicationCodeFor([code]),
          }}
        />
        <p>
          Warnings (W) and information (I) have the same codes and make no error of an <code>AA</code>.
        </p>
      </Section>
      <Section id="reasons" title="ERR-5, the gateway’s own codes">
        <p>
          These codes are more precise than table 0357 and never change, so a program can use them. The sentence in
          ERR-8 is for people. With other settings of the API key, the same code can be an error, a warning or
          information.
        </p>
        <Table
          label="ERR-5"
          rows={Object.entries(ERROR_REASONS)}
          columns={{
            Code: ([reason]) => (
              <th scope="row" id={`reason-${reason}`}>
                <code>{reason}</code>
              </th>
            ),
            Meaning: ([, means]) => means,
          }}
        />
      </Section>
      <Section id="time" title="Time limits">
        <p>The defaults of a listener; its operator can change them.</p>
        <Table
          label="Time limits"
          rows={
            [
              ['A frame, from its VT to its end', MLLP_DEFAULTS.frameSeconds, 'the connection is closed'],
              [
                'A connection without data',
                MLLP_DEFAULTS.idleSeconds,
                'the connection is closed: connect again for the next message',
              ],
              ['The beginning: PROXY header and TLS', MLLP_DEFAULTS.openingSeconds, 'the connection is closed'],
              [
                'An answer while the gateway cannot be reached',
                MLLP_DEFAULTS.retrySeconds,
                'the connection is closed without an ACK',
              ],
            ] as const
          }
          columns={{
            Limit: ([limit]) => limit,
            Time: ([, seconds]) => minutes(seconds),
            Result: ([, , result]) => result,
          }}
        />
      </Section>
      <Section id="again" title="When to send again">
        <ul>
          <li>
            <strong>No answer, or the connection was closed:</strong> connect again and send the same bytes, MSH-10 and
            MSH-7 unchanged. A message that was stored before gets its first ACK again and changes nothing.
          </li>
          <li>
            <strong>Wait for an answer for at least {MLLP_DEFAULTS.retrySeconds + 15} s</strong> before you send again,
            then wait 5 s, 10 s, 20 s … up to a minute between attempts.
          </li>
          <li>
            <strong>AE or AR:</strong> the gateway checks the same bytes again each time. Send them again after the
            cause is fixed, not in a loop. The console shows the message and the reason.
          </li>
          <li>
            <strong>Keep the order:</strong> use one connection for messages that must arrive in order, and send the
            next message after the previous answer.
          </li>
        </ul>
        <p>
          The codes of the other surfaces are under <a href={`${referencePath(site)}/errors`}>Errors</a>.
        </p>
      </Section>
    </TextPage>
  );
};
