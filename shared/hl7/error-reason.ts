/**
 * The gateway's own codes for problems of an HL7 message (ERR-5, coding system L), with their meaning. They are finer than
 * table 0357 and never change, so programs may depend on them. The sentence in ERR-8 is more specific and may change.
 */
export const ERROR_REASONS = {
  'no-msh': 'The message does not begin with MSH.',
  'no-delimiters': 'A delimiter of MSH-1 or MSH-2 is missing.',
  'bad-delimiters': 'The delimiters in MSH-1 and MSH-2 are invalid: one is repeated, or is not punctuation.',
  'no-control-id': 'MSH-10 is missing or does not parse, so the ACK cannot refer to it.',
  'unknown-charset': 'MSH-18 names a character set that is not supported.',
  'undecodable-bytes': 'The bytes do not fit the character set of MSH-18, the key or the site.',
  nul: 'The message contains a NUL character.',
  'control-character':
    'The message contains control characters, which FHIR cannot have. Line breaks or spaces replace them.',
  'charset-doubtful':
    'The bytes are UTF-8 but were decoded with the declared one-byte character set. Letters are probably wrong.',
  'several-messages': 'There is a second MSH. Send each message separately, or all as a batch over HTTP.',
  'message-fragment': 'DSC-1 or MSH-14 says that the message is a part of a longer one. Send the message in one piece.',
  batch: 'Batches (FHS, BHS) are accepted over HTTP only.',
  'broken-batch': 'The batch has no trailer, a wrong message count, or segments outside messages.',
  'batch-too-long': 'The batch has more messages than the limit.',
  'too-large': 'The message is larger than the limit.',
  'too-many-segments': 'The message has more segments than the limit.',
  'too-many-pids': 'The message has more PID segments than the limit.',
  'too-many-mrgs': 'The message has more MRG segments than the limit.',
  'too-many-numbers': 'The message has more patient identifiers than the limit.',
  'too-many-repetitions': 'A field has more repetitions than the limit.',
  'too-much-repeated': 'The resources of the message would repeat a long field too often.',
  'too-many-documents': 'The message has more documents than the limit.',
  'too-many-resources': 'The message would create more resources than the limit.',
  'too-many-names': 'The names of the patients have more characters than the limit.',
  'too-much-stored':
    'The stored patients and results that the message concerns have more than 16 MiB. Send several messages, each about fewer of them.',
  'required-field-missing': 'A required field or segment is missing.',
  'segment-sequence': 'A segment is not allowed at this place in the message structure.',
  'unsupported-type': 'Messages of this type (MSH-9.1) are not supported.',
  'unsupported-event': 'This event (MSH-9.2) of the type is not supported.',
  'unsupported-version': 'This version of HL7 (MSH-12) is not supported.',
  'unsupported-processing-id': 'The key does not accept messages with this processing id (MSH-11).',
  'no-processing-id': 'MSH-11 is empty. The first processing id that the key accepts was used.',
  'no-event': 'MSH-9.2 is empty. EVN-1 or the usual event of the type was used.',
  'unknown-sender': 'No API key matches address, certificate, MSH-3 and MSH-4 of the sender. Nothing was stored.',
  'control-id-reused': 'Another message of this sender had the same MSH-10. Both are stored.',
  'type-not-mapped': 'Messages of this type are stored and not mapped.',
  'no-effect': 'The event concerns visits, accounts or beds. Only the data of the patient was updated.',
  'no-resource':
    'The order was stored with the message and not mapped. The patient, allergies and diagnoses were updated.',
  'no-patient': 'Quality control is about no patient. It was stored with the message and not mapped.',
  'segment-not-mapped': 'The segment is stored with the message but not mapped to a resource.',
  'not-mapped': 'The value is stored with the message but not mapped to a resource.',
  'scope-missing': 'The segment was skipped: the key has no scope to write the resource.',
  'bad-time': 'The value is not an HL7 date or time.',
  'clock-ahead':
    'This time is more than 15 minutes ahead. It does not count. Check the clock and the time zone of the sender.',
  'period-reversed': 'The end of a period is before its start. The end was skipped.',
  'not-a-number': 'The value is not a number.',
  'unescaped-unit': 'Escape the ^ in a unit (\\S\\). It was read as a power of ten.',
  'value-of-another-type': 'OBX-5 does not fit the type in OBX-2. It was stored as text.',
  'unknown-value-type': 'OBX-2 is not a mapped value type of table 0125. OBX-5 was stored as text.',
  'unreadable-document': 'The document cannot be read from OBX-5.',
  'document-without-content': 'The event needs a document, but no OBX-5 after TXA has any content.',
  'parent-missing': 'TXA-13 (parent document number) is empty. The document was stored without a parent.',
  'unknown-code': 'The code is not in the table of its field. The element was skipped.',
  'unknown-status': 'The status is not in its table.',
  'identifier-too-long': 'An identifier is too long for a search.',
  'code-too-long': 'A code is too long for a search. It was stored as text.',
  'system-too-long': 'The coding system is too long for the search. It was skipped.',
  'placeholder-identifier': 'PID-3 has only placeholders. Send an identifier of the patient.',
  'no-identifying-number':
    'PID-3 has no identifying identifier, and no patient with one of its identifiers agrees in name and birth date.',
  'ambiguous-patient': 'Several patients have the identifier, and the name and birth date do not single one out.',
  'too-many-patients':
    'More than 100 patients share this identifier. If it is a placeholder, add it to the site’s placeholder list.',
  'patient-differs': 'Two or more of name, birth date and sex differ from the patient with this identifier.',
  'number-of-several':
    'Several patients have this identifier. The patient that agrees in name and birth date was used.',
  'authority-assumed': 'The assigning authority is uncertain. The name and birth date identified the patient.',
  'identifiers-of-several': 'A further identifier belongs to another patient. It was not copied.',
  'possible-duplicate': 'Another patient is a possible duplicate. Both were put up for review.',
  'namespace-contested':
    'Messages have several URIs for this namespace. It finds only a patient whose name and birth date agree.',
  'number-reassigned': 'The identifier belonged to another person. It now identifies a new patient.',
  'record-absorbed': 'A record that only results or documents made is of this person. It was merged into the patient.',
  'unknown-patient': 'No patient has the identifier.',
  'merged-number':
    'This identifier belongs to a merged patient. The personal data was updated there, not in the survivor.',
  'not-linked': 'The patients are not linked. Nothing was changed. A37 does not undo a merge; an administrator can.',
  'number-taken':
    'The new identifier belongs to another patient, whose name and birth date do not agree. Nothing was changed.',
  'already-merged': 'MRG-1 and PID-3 name the same patient. Nothing was merged.',
  'merged-elsewhere': 'The patient of MRG-1 was already merged into another patient than that of PID-3.',
  'merge-unresolved': 'MRG-1 does not single out one patient. Nothing was merged.',
  'merge-of-several':
    'MRG-1 names several patients whose names and birth dates do not agree. Only the first was merged.',
  'not-moved': 'The gateway moves no data between patients for this event. It was put up for review.',
  stale: 'Newer data is already stored. The message added only values that were missing.',
  'correction-unmatched': 'The correction matches no stored result, or several. It was stored beside them.',
  'result-unclear': 'Several stored results have this order number, code and time. The result was stored beside them.',
  'result-missing':
    'A newer message cancels an older result, no longer has it, or changes its parent. It was withdrawn, or put up for review.',
  'preliminary-left': 'A result below final was kept beside a final result of its code. It was put up for review.',
  'no-result': 'OBR-25 says that there is no such order or patient.',
  'ambiguous-document': 'Several documents of the patient have this number, and it has no authority.',
  'unknown-document': 'No stored document has this number. It was stored as cancelled, without content.',
  'rule-ignored': 'A rule of the API key ignores the message. It is stored and has no effect.',
  'rule-rejected': 'A rule of the API key rejects the message.',
  'rules-too-costly': 'The rules of the API key take too long for this message. Send it in parts, or change the rules.',
  'gateway-failed':
    'The gateway failed to process the message. It is stored and will be retried; it can also be sent again.',
  'more-findings': 'The acknowledgement does not list all findings.',
} as const;

export type ErrorReason = keyof typeof ERROR_REASONS;

export const isErrorReason = (text: string): text is ErrorReason => Object.hasOwn(ERROR_REASONS, text);
