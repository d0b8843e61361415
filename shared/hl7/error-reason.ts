/**
 * Our own stable codes of what is wrong with an HL7 message or was noted of it (ERR-5, coding system L), each with what it
 * means. They are finer than table 0357, stay what they are, and are what a sender's program may go by; the sentence of
 * ERR-8 says more of the one message, and may change.
 */
export const ERROR_REASONS = {
  // The envelope.
  'no-msh': 'The message does not begin with MSH.',
  'no-delimiters': 'A delimiter of MSH-1 or MSH-2 is missing.',
  'bad-delimiters': 'The delimiters of MSH-1 and MSH-2 cannot be used: they are the same, or no delimiters at all.',
  'no-control-id': 'MSH-10 is missing or cannot be read, so nothing can be acknowledged by it.',
  'unknown-charset': 'MSH-18 names a character set that is not read.',
  'undecodable-bytes': 'The bytes are not of the character set that MSH-18, the key or the site says.',
  nul: 'The message holds a NUL character.',
  'charset-doubtful':
    'The bytes are UTF-8, and were read as the set of one byte a letter that is said: letters are probably others.',
  'several-messages': 'There is a second MSH: each message is sent by itself, or all of them as a batch over HTTP.',
  batch: 'Batches (FHS, BHS) are taken over HTTP only.',
  'broken-batch': 'The batch has no trailer, another number of messages than it says, or segments outside of messages.',
  'batch-too-long': 'The batch has more messages than one may have.',
  'too-large': 'The message is larger than the limit.',
  'too-many-segments': 'The message has more segments than one may have.',
  'too-many-pids': 'The message is about more patients than one may be.',
  'too-many-mrgs': 'The message merges more patients than one may.',
  'too-many-numbers': 'The message has more numbers of patients than one may have.',
  'too-many-repetitions': 'A field is repeated more often than it may be.',
  'too-much-repeated': 'The resources of the message would repeat a long field of it too often.',
  'too-many-resources': 'The message would make more resources than one may.',
  // The header, and which segments there are.
  'required-field-missing': 'A field or segment that must be there is missing.',
  'segment-sequence': 'A segment stands where the structure of the message has none.',
  'unsupported-type': 'Messages of this type (MSH-9.1) are not served.',
  'unsupported-event': 'This event (MSH-9.2) of the type is not served.',
  'unsupported-version': 'This version of HL7 (MSH-12) is not read.',
  'unsupported-processing-id': 'The key does not take messages with this processing id (MSH-11).',
  'no-processing-id': 'MSH-11 is empty; the message counts as of the first processing id that the key takes.',
  'unknown-sender': 'No API key fits the sender: address, certificate, MSH-3 and MSH-4. Nothing was stored.',
  'control-id-reused': 'Another message of this sender had the same MSH-10. Both are stored.',
  'type-not-mapped': 'Messages of this type are kept as they came, and nothing is made of them.',
  'no-effect':
    'The event is of visits, accounts or beds: what the message says of the patient was taken, nothing else.',
  'segment-not-mapped': 'The segment is kept with the message, and nothing is made of it.',
  'not-mapped': 'The value is kept with the message, and nothing is made of it.',
  'scope-missing': 'The segment was left out: the key has no scope to write what it would make.',
  // Fields.
  'bad-time': 'The value is no time of HL7.',
  'period-reversed': 'The end of a period is before its start; the end was left out.',
  'not-a-number': 'The value is not a number.',
  'unescaped-unit': 'A ^ in a unit was read as a power of ten; it has to be escaped.',
  'value-of-another-type': 'OBX-5 is not of the type that OBX-2 says; it is kept as text.',
  'unknown-value-type': 'OBX-2 is no value type that is read; OBX-5 is kept as text.',
  'unreadable-document': 'The document cannot be read from OBX-5.',
  'document-without-content': 'The event brings a document, and no OBX-5 holds anything of it.',
  'parent-missing': 'TXA-13 is empty: no document was replaced, or added to.',
  'unknown-code': 'The code is not of the table of its field; what it would have made was left out.',
  'unknown-status': 'The status is not of its table.',
  'identifier-too-long': 'An identifier is longer than may be searched for.',
  'code-too-long': 'A code is longer than may be searched for; it is kept as text.',
  'system-too-long': 'A coding system is longer than may be searched for; it was left out.',
  // Whom it is about.
  'placeholder-identifier': 'PID-3 has placeholders only, which stand for nobody.',
  'no-identifying-number':
    'PID-3 has no number that identifies a patient, and nobody who is known agrees with the person.',
  'ambiguous-patient': 'Several patients have the number, and not just one of them agrees with the person.',
  'too-many-patients': 'So many patients have the number that they cannot all be looked at.',
  'patient-differs': 'Two or more of name, birth date and sex are not those of the patient with this number.',
  'number-of-several': 'Several patients have the number; the one that agrees with the person was taken.',
  'domain-assumed': 'Who gave the number out is not certain; the patient was told by name and birth date.',
  'identifiers-of-several': 'A further number is another patient’s; it was not copied.',
  'possible-duplicate': 'Another patient may be the same person; people are asked to look at both.',
  'unknown-patient': 'Nobody who is known has the number.',
  'merged-number': 'The number is of a patient who was merged into another.',
  'not-linked': 'The two are not linked; nothing was changed.',
  'number-taken': 'The new number is another patient’s, and the two are not known to be one; nothing was changed.',
  'already-merged': 'The two are one already; nothing was merged.',
  'merged-elsewhere': 'The patient has been merged into another than the one that is named.',
  'merge-unresolved': 'The patient of MRG cannot be told apart from another; nothing was merged.',
  'merge-of-several': 'MRG has numbers of several patients; only the first was merged.',
  'not-moved': 'What was to be moved to another patient stays where it is; people are asked to look at it.',
  // Results and documents.
  stale: 'Something newer is known than the message says; it changed only what was not known yet.',
  'correction-unmatched': 'It corrects no result that is known, or it is not clear which; it is stored beside them.',
  'result-unclear': 'Several results could be meant; this one is stored beside them.',
  'no-result': 'OBR-25 says that there is no such order or patient.',
  'unknown-document': 'No document of this number is known.',
  // Ours.
  'gateway-failed': 'A fault of the gateway. The message is stored and tried again by itself.',
  'more-findings': 'There is more than one acknowledgement may list.',
} as const;

export type ErrorReason = keyof typeof ERROR_REASONS;

export const isErrorReason = (text: string): text is ErrorReason => Object.hasOwn(ERROR_REASONS, text);
