/** W3C Trace Context: which headers are gone on with, and that no other can do harm. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { beginTrace, continueTrace, traceparentOf } from '../../../shared/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  ['the recommendation’s own example', `00-${TRACE}-${SPAN}-01`],
  ['a trace that is not sampled', `00-${TRACE}-${SPAN}-00`],
  ['unknown flags', `00-${TRACE}-${SPAN}-ff`],
  ['a later version', `cc-${TRACE}-${SPAN}-01`],
  ['a later version that says more', `cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`],
])('%s is gone on with', (_, header) => {
  const span = continueTrace(header);
  expect(span).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(span.spanId).not.toBe(SPAN);
});

test.each([
  ['no header', undefined],
  ['an empty one', ''],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the invalid version', `ff-${TRACE}-${SPAN}-01`],
  ['this version with more', `00-${TRACE}-${SPAN}-01-more`],
  ['a later version with more and no dash', `cc-${TRACE}-${SPAN}-01.more`],
  ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['two of them', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['a patient’s name', 'Doe^Jane'],
])('%s begins a trace', (_, header) => {
  const span = continueTrace(header);
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect([span.traceId === TRACE, span.parentSpanId]).toEqual([false, undefined]);
});

test('uses the span that the platform exports, but only in the trace of the caller', () => {
  const exported = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  expect(continueTrace(undefined, exported)).toEqual(exported);
  const same = { traceId: TRACE, spanId: exported.spanId };
  expect(continueTrace(`00-${TRACE}-${SPAN}-01`, same)).toEqual({ ...same, parentSpanId: SPAN });
  const other = continueTrace(`00-${TRACE}-${SPAN}-01`, exported);
  expect(other).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  expect(other.spanId).not.toBe(exported.spanId);
});

test('any header results in hexadecimal digits and never throws', () => {
  const near = fc.stringMatching(/^[0-9a-f]{2}-[0-9a-g]{30,34}-[0-9a-f]{14,18}-?[0-9a-f]{0,3}[ -~]{0,5}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), near), (header) => {
      for (const text of Object.values(continueTrace(header))) expect(text).toMatch(/^[0-9a-f]+$/);
    }),
  );
});

test('continues the header that the gateway sends', () => {
  const ours = beginTrace();
  expect(continueTrace(traceparentOf(ours))).toMatchObject({ traceId: ours.traceId, parentSpanId: ours.spanId });
});
