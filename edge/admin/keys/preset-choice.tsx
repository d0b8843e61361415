/** The presets above the form of a new key: links, which need no script. */
import { presetNamed, PRESETS } from './presets.ts';

/** @param chosen the name of a preset, or '' */
export const Presets = ({ path, chosen }: { path: string; chosen: string }) => (
  <nav class="presets" aria-label="What is the key for?">
    {PRESETS.map(({ name, title }) => (
      <a href={`${path}?preset=${name}`} aria-current={name === chosen ? 'true' : undefined}>
        {title}
      </a>
    ))}
    <a href={path} aria-current={presetNamed(chosen) === undefined ? 'true' : undefined}>
      Something else
    </a>
    {presetNamed(chosen) === undefined ? null : <p class="quiet">{presetNamed(chosen)?.description}</p>}
  </nav>
);
