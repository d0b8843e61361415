/** The use of an API key in the last day and month, by surface: bars that need no script, and the counts as text. */
import { useContext } from 'hono/jsx';

import type { KeyActivityRow } from '../../store/key-activity.ts';
import type { UsageSurface } from '../../store/usage.ts';
import { Empty, Section, TimeZone, When } from '../web/ui.tsx';
import { wallTime } from '../web/wall-clock.ts';
import type { KeyRow } from './statements.ts';
import { usageToday } from './usage-today.ts';

const SURFACES: Readonly<Record<UsageSurface, string>> = {
  token: 'Token requests',
  fhir: 'FHIR requests',
  hl7: 'HL7 over HTTP',
  mllp: 'HL7 over MLLP',
};
const HOUR = 3600;
const DAY = 86_400;
const SPANS = [
  { title: 'Last 24 hours', stepSeconds: HOUR, steps: 24 },
  { title: 'Last 30 days', stepSeconds: DAY, steps: 30 },
] as const;

interface Step {
  /** Seconds since the epoch. */
  readonly begins: number;
  readonly accepted: number;
  readonly refused: number;
}

/** The steps of a span up to the current one; steps without requests are 0. */
export function stepsOf(
  rows: readonly KeyActivityRow[],
  surface: string,
  { stepSeconds, steps }: { readonly stepSeconds: number; readonly steps: number },
  nowMs: number,
): readonly Step[] {
  const last = Math.floor(nowMs / 1000 / stepSeconds) * stepSeconds;
  return Array.from({ length: steps }, (_, at) => {
    const begins = last - (steps - 1 - at) * stepSeconds;
    const row = rows.find(
      (each) => each.surface === surface && each.step_seconds === stepSeconds && each.begins === begins,
    );
    return { begins, accepted: row?.accepted ?? 0, refused: row?.refused ?? 0 };
  });
}

const HEIGHT = 40;
const BAR = 8;
const GAP = 2;

const Bars = ({ steps, label, isDays }: { steps: readonly Step[]; label: string; isDays: boolean }) => {
  const zone = useContext(TimeZone);
  const most = Math.max(1, ...steps.map(({ accepted, refused }) => accepted + refused));
  // A small count stays visible.
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT));
  const titleOf = (step: Step): string => {
    const { day, time } = wallTime(new Date(step.begins * 1000).toISOString(), isDays ? 'UTC' : zone);
    return `${isDays ? day : `${day} ${time.slice(0, 5)}`}: ${step.accepted} accepted, ${step.refused} rejected or failed`;
  };
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${steps.length * (BAR + GAP)} ${HEIGHT}`}
      role="img"
      aria-label={label}
      preserveAspectRatio="none"
    >
      {steps.map((step, at) => {
        const [ok, bad] = [heightOf(step.accepted), heightOf(step.refused)];
        const x = at * (BAR + GAP);
        return (
          <g>
            <title>{titleOf(step)}</title>
            <rect class="ground" x={x} y={0} width={BAR} height={HEIGHT} />
            <rect class="bad" x={x} y={HEIGHT - bad} width={BAR} height={bad} />
            <rect class="ok" x={x} y={Math.max(0, HEIGHT - bad - ok)} width={BAR} height={ok} />
          </g>
        );
      })}
    </svg>
  );
};

const sum = (steps: readonly Step[], what: 'accepted' | 'refused'): number =>
  steps.reduce((total, step) => total + step[what], 0);

interface ActivityProps {
  readonly keyRow: KeyRow;
  readonly activity: readonly KeyActivityRow[];
  readonly nowMs: number;
  /** The list of rejected requests. */
  readonly requestsPath: string;
}

export const Activity = ({ keyRow, activity, nowMs, requestsPath }: ActivityProps) => {
  const surfaces = Object.entries(SURFACES).filter(([surface]) => activity.some((row) => row.surface === surface));
  return (
    <Section id="activity" title="Activity">
      {keyRow.last_used === null ? (
        <Empty>This key has not been used yet.</Empty>
      ) : (
        <p>
          Last used <When at={keyRow.last_used} relative />, to a quarter of an hour. Today: {usageToday(keyRow)}.{' '}
          <a href={requestsPath}>Rejected and failed requests</a>
        </p>
      )}
      <div class="activity">
        {surfaces.map(([surface, title]) =>
          SPANS.map((span) => {
            const steps = stepsOf(activity, surface, span, nowMs);
            const [accepted, refused] = [sum(steps, 'accepted'), sum(steps, 'refused')];
            const counts = `${accepted.toLocaleString('en')} accepted, ${refused.toLocaleString('en')} rejected or failed`;
            return (
              <figure>
                <figcaption>
                  {title} <span class="quiet">{span.title.toLowerCase()}</span>
                </figcaption>
                <Bars steps={steps} label={`${title}, ${span.title}: ${counts}`} isDays={span.stepSeconds === DAY} />
                <p class="quiet">{counts}</p>
              </figure>
            );
          }),
        )}
      </div>
    </Section>
  );
};
