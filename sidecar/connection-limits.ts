/**
 * Who may have a connection, in all and of one source: an address, or an IPv6 /64. When all are taken, a source that has
 * few gets one from the source that has most, where one of its connections is idle; so no source keeps another out.
 */
import { addressKey } from '../shared/ip.ts';
import type { Metrics, RefusalReason } from './metrics.ts';

export interface ConnectionLimits {
  /**
   * @param address of the sender; undefined where a balancer has not told it yet
   * @param end ends the connection, for this reason
   * @returns the reason where there is no room
   */
  enter(address: string | undefined, end: (reason: RefusalReason) => void): RefusalReason | Place;
  /** How many are open. */
  open(): number;
}

export interface Place {
  /** The sender is of this address (PROXY protocol). @returns the reason where it has too many; its place it must leave */
  isOf(address: string): RefusalReason | undefined;
  /** @param isBusy something of the connection is under way: it gives way to nobody */
  setBusy(isBusy: boolean): void;
  /** A whole frame has come: the sender works. */
  hasSent(): void;
  /** The connection has ended. A second call does nothing. */
  leave(): void;
}

export interface ConnectionMaxima {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** How long a connection may be without a whole frame while connections are scarce. */
  readonly firstFrameTimeoutMs: number;
}

interface Member {
  readonly end: (reason: RefusalReason) => void;
  readonly timer: NodeJS.Timeout;
  source: string;
  isBusy: boolean;
  hasSent: boolean;
}

/** Of senders that a balancer has not told yet. */
const UNTOLD = '';

export function createConnectionLimits(maxima: ConnectionMaxima, metrics: Metrics): ConnectionLimits {
  const { maxConnections, maxConnectionsPerAddress, firstFrameTimeoutMs } = maxima;
  let open = 0;
  /** Of each source; who has sent last is the last one. */
  const sources = new Map<string, Set<Member>>();

  const countOf = (source: string): number => sources.get(source)?.size ?? 0;
  const isFull = (source: string): boolean => source !== UNTOLD && countOf(source) >= maxConnectionsPerAddress;
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
    // Now, and not when its socket has closed: its place is taken.
    leave(member);
    member.end(reason);
  };

  /** The idle connection of whoever has most; first one that has never sent, then the one that was idle longest. */
  const idleOfMost = (source: string): Member | undefined => {
    const larger = [...sources].filter(([name, { size }]) => name !== source && size > countOf(source) + 1);
    for (const [, members] of larger.toSorted(([, a], [, b]) => b.size - a.size)) {
      const idle = [...members].filter(({ isBusy }) => !isBusy);
      const found = idle.find(({ hasSent }) => !hasSent) ?? idle[0];
      if (found !== undefined) return found;
    }
    return undefined;
  };

  /** Few are left, in all or of the source: who has not sent yet may keep its connection only so long. */
  const isScarce = (source: string): boolean =>
    open > maxConnections / 2 || countOf(source) > maxConnectionsPerAddress / 2;

  return {
    enter(address, end) {
      const source = address === undefined ? UNTOLD : addressKey(address);
      if (isFull(source)) return 'too-many-connections-of-address';
      if (open >= maxConnections) {
        const idle = idleOfMost(source);
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
        isOf(told) {
          const own = addressKey(told);
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
