/** The parts of `simple-hl7` that the tests use; it has no types. */
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
  interface TcpClient {
    send(message: ParsedMessage, callback: (error: Error | null, ack?: ParsedMessage) => void): void;
    close(): void;
  }
  const simpleHl7: {
    readonly Server: {
      createTcpClient(options: { host: string; port: number; keepalive: boolean }): TcpClient;
    };
    readonly Parser: new (options?: { segmentSeperator: string }) => { parse(text: string): ParsedMessage };
  };
  export default simpleHl7;
}
