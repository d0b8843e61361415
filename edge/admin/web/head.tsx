/** The head of every HTML page of the console and of the API reference. */
interface HeadProps {
  readonly title: string;
  /** The address of a file of `assets`. */
  readonly asset: (name: string) => string;
  readonly styles: readonly string[];
  /** They run in this order once the page is parsed. */
  readonly scripts: readonly string[];
}

export const Head = ({ title, asset, styles, scripts }: HeadProps) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{`${title} · Integration gateway`}</title>
    <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
    {styles.map((name) => (
      <link rel="stylesheet" href={asset(name)} />
    ))}
    {scripts.map((name) => (
      <script src={asset(name)} defer></script>
    ))}
  </head>
);
