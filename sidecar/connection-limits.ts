/**
 * Limits connections, in total and per source (an address, or an IPv6 /64). At the total limit, a new source gets an idle
 * connection of the source that has most, so that no source can block another.
 */
import { addressKey } from '../shared/ip.ts';
import type { Metrics, RefusalReason } from './metrics.ts';

export interface ConnectionLimits {
  /**
   * @param address the sender's; undefined until a balancer's header arrives
   * @param end ends the connection with a reason
   * @returns the place, or the reason to reject the connection
   */
  enter(address: string | undefined, end: (reason: RefusalReason) => void): RefusalReason | Place;
  open(): number;
}

export interface Place {
  /** Sets the sender's address (PROXY protocol). @returns the reason to reject the connection, if its source has too many */
  setAddress(address: string): RefusalReason | undefined;
  /** @param isBusy a busy connection is never closed for another */
  setBusy(isBusy: boolean): void;
  /** Records that a complete frame arrived. */
  hasSent(): void;
  /** Records the end of the connection. A second call does nothing. */
  leave(): void;
}

export interface ConnectionMaxima {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** The time for the first complete frame while connections are scarce. */
  readonly firstFrameTimeoutMs: number;
}

interface Member {
  readonly end: (reason: RefusalReason) => void;
  readonly timer: NodeJS.Timeout;
  source: string;
  isBusy: boolean;
  hasSent: boolean;
}

/** The source of connections whose balancer has not sent the header yet. */
const UNKNOWN_SOURCE = '';

export function createConnectionLimits(maxima: ConnectionMaxima, metrics: Metrics): ConnectionLimits {
  const { maxConnections, maxConnectionsPerAddress, firstFrameTimeoutMs } = maxima;
  let open = 0;
  /** By source; the connection with the most recent frame is the last. */
  const sources = new Map<string, Set<Member>>();

  const countOf = (source: string): number => sources.get(source)?.size ?? 0;
  const isFull = (source: string): boolean => source !== UNKNOWN_SOURCE && countOf(source) >= maxConnectionsPerAddress;
  const join = (member: Member): void => {
    const members = sources.get(member.source) ?? new Set();
    sources.set(member.source, members.add(member));
  };
  const part = (member: Member): boolean => {
    const members = sources.get(member.source);
    const wasIn = members?.delete(member) === true;
    if (members?.size === 0) sources.delete(member.source);
    return wasIn;
  };
  const leave = (member: Member): void => {
    clearInterval(member.timer);
    if (!part(member)) return;
    open -= 1;
    metrics.connections.set(open);
  };
  const dismiss = (member: Member, reason: RefusalReason): void => {
    // Immediately, not when the socket has closed: another connection needs the place.
    leave(member);
    member.end(reason);
  };

  /** An idle connection of the largest source: first one without any frame, then the one with the longest idle time. */
  const findIdle = (source: string): Member | undefined => {
    const larger = [...sources].filter(([name, { size }]) => name !== source && size > countOf(source) + 1);
    for (const [, members] of larger.toSorted(([, a], [, b]) => b.size - a.size)) {
      const idle = [...members].filter(({ isBusy }) => !isBusy);
      const found = idle.find(({ hasSent }) => !hasSent) ?? idle[0];
      if (found !== undefined) return found;
    }
    return undefined;
  };

  /** True if few places remain, in total or for the source: connections without a frame are then closed after a time. */
  const isScarce = (source: string): boolean =>
    open > maxConnections / 2 || countOf(source) > maxConnectionsPerAddress / 2;

  return {
    enter(address, end) {
      const source = address === undefined ? UNKNOWN_SOURCE : addressKey(address);
      if (isFull(source)) return 'too-many-connections-of-address';
      if (open >= maxConnections) {
        const idle = findIdle(source);
        if (idle === undefined) return 'too-many-connections';
        dismiss(idle, 'gave-way');
      }
      const timer = setInterval(() => {
        if (member.hasSent) clearInterval(timer);
        else if (!member.isBusy && isScarce(member.source)) dismiss(member, 'no-first-frame');
      }, firstFrameTimeoutMs).unref();
      const member: Member = { end, timer, source, isBusy: false, hasSent: false };
      open += 1;
      metrics.connections.set(open);
      join(member);
      return {
        setAddress(address) {
          const own = addressKey(address);
          if (own === member.source) return undefined;
          if (isFull(own)) return 'too-many-connections-of-address';
          if (!part(member)) return 'gave-way';
          member.source = own;
          join(member);
          return undefined;
        },
        setBusy(isBusy) {
          member.isBusy = isBusy;
        },
        hasSent() {
          member.hasSent = true;
          if (part(member)) join(member);
        },
        leave: () => leave(member),
      };
    },
    open: () => open,
  };
}
