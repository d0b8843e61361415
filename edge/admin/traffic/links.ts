/** Links from a figure to its requests, messages or audit events. */
import type { Config } from '../../config.ts';
import type { UsageSurface } from '../../store/usage.ts';
import type { Permission } from '../../permissions.ts';
import { linkTo } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';

/** Seconds since the epoch. */
export interface Between {
  readonly from: number;
  readonly to: number;
}

/** Undefined without a page for it, or without the permission. @param surface null for all */
type Link = (surface: UsageSurface | null, between: Between) => string | undefined;

/** Undefined without the permission to see keys. */
export interface KeyLinks {
  readonly key: ((clientId: string) => string) | undefined;
  readonly refused: ((clientId: string, between: Between) => string | undefined) | undefined;
}

export interface Links {
  readonly answered: Link;
  readonly refused: Link;
  readonly failed: Link;
  readonly ofKey: KeyLinks;
}

export function linksOf(config: Config, permissions: ReadonlySet<Permission>): Links {
  const to = (
    { path, permission }: { readonly path: string; readonly permission: Permission },
    between: Between,
    query: Readonly<Record<string, string>>,
  ): string | undefined => {
    if (!permissions.has(permission)) return undefined;
    const instant = (seconds: number) => new Date(seconds * 1000).toISOString();
    const all = { ...query, from: instant(between.from), to: instant(between.to) };
    return `${linkTo(config, path)}?${new URLSearchParams(all).toString()}`;
  };
  const requests =
    (query: Readonly<Record<string, string>>): Link =>
    (surface, between) =>
      to(PLACES.requests, between, surface === null ? query : { surface, ...query });
  return {
    // No list has the issued tokens.
    answered(surface, between) {
      if (surface === 'fhir') return to(PLACES.audit, between, {});
      return surface === 'hl7' || surface === 'mllp' ? to(PLACES.messages, between, { outcome: 'AA' }) : undefined;
    },
    // Rejected requests have 4xx, AE or AR, which no single filter finds.
    refused: requests({}),
    failed: requests({ status: '5xx' }),
    ofKey: permissions.has(PLACES.keys.permission)
      ? {
          key: (clientId) => linkTo(config, `${PLACES.keys.path}/${clientId}`),
          refused: (clientId, between) => to(PLACES.requests, between, { clientId }),
        }
      : { key: undefined, refused: undefined },
  };
}
