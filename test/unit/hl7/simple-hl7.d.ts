/** What the tests use of `simple-hl7`, which comes without types. */
declare module 'simple-hl7' {
  interface Segment {
    readonly name: string;
    getField(index: number, repetition?: number): string;
    getComponent(field: number, component: number): string;
  }
  interface ParsedMessage {
    readonly header: Segment;
    readonly segments: readonly Segment[];
    getSegment(name: string): Segment | undefined;
  }
  const simpleHl7: {
    readonly Parser: new (options?: { segmentSeperator: string }) => { parse(text: string): ParsedMessage };
  };
  export default simpleHl7;
}
