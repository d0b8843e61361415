import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../shared/fault.ts';
import { encodingCharacters, readDelimiters } from '../../../../shared/hl7/delimiters.ts';

describe('readDelimiters', () => {
  it.each([
    ['MSH|^~\\&|A', '|', '^~\\&'],
    ['MSH|^~\\&#|A', '|', '^~\\&#'],
    ['MSH|^~\\|A', '|', '^~\\'],
    ['MSH|^~\\&', '|', '^~\\&'],
    ['FHS|^~\\&|A', '|', '^~\\&'],
    ['MSH*:~!%*A', '*', ':~!%'],
    // An escape character doubled by the sender's source code, as 16 messages of the corpus have it.
    ['MSH|^~\\\\&|A', '|', '^~\\&'],
  ])('reads %j', (line, field, encoding) => {
    const delimiters = readDelimiters(line);
    expect(delimiters.field).toBe(field);
    expect(encodingCharacters(delimiters)).toBe(encoding);
  });

  it.each([
    ['', '100', 'MSH^1'],
    ['PID|1', '100', 'MSH^1'],
    ['{"resourceType":"Patient"}', '100', 'MSH^1'],
    ['MSH', '101', 'MSH^1^1'],
    ['MSH|', '101', 'MSH^1^2'],
    ['MSH||A', '101', 'MSH^1^2'],
    ['MSH|^~|A', '102', 'MSH^1^2'],
    ['MSH|^~\\&#$|A', '102', 'MSH^1^2'],
    ['MSH|^^\\&|A', '102', 'MSH^1^2'],
    ['MSH|^~\\a|A', '102', 'MSH^1^2'],
    ['MSH|^~\\"|A', '102', 'MSH^1^2'],
    ['MSHA^~\\&A', '102', 'MSH^1^1'],
  ])('rejects %j with %s at %s', (line, code, at) => {
    let fault: unknown;
    try {
      readDelimiters(line);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ issues: [{ code, at }] });
  });
});
