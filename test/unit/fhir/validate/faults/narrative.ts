/** Faults of narrative XHTML (FHIR R4, Narrative §2.4.0). */
import type { JsonObject } from '../../../../../shared/json.ts';
import { VALID, type Fault } from './valid.ts';

const { patient } = VALID;

const DIV = '<div xmlns="http://www.w3.org/1999/xhtml">text</div>';

function narrated(div: string): JsonObject {
  return { ...patient, text: { status: 'generated', div } };
}

export const NARRATIVE: readonly Fault[] = [
  ['not XHTML', 'text'],
  ['no namespace', '<div>a</div>'],
  ['another namespace', '<div xmlns="http://example.org">a</div>'],
  ['nothing to read (txt-2)', DIV.replace('text', ' <p> </p> ')],
  ['a script (txt-1)', DIV.replace('text', 'a<script>alert(1)</script>')],
  ['an event (txt-1)', DIV.replace('text', '<p onclick="a()">a</p>')],
  ['a form (txt-1)', DIV.replace('text', '<form>a</form>')],
  ['a frame (txt-1)', DIV.replace('text', '<iframe src="a">a</iframe>')],
  ['a deprecated element (txt-1)', DIV.replace('text', '<font>a</font>')],
  ['an active link (txt-1)', DIV.replace('text', '<a href="javascript:a()">a</a>')],
  ['an active link in disguise (txt-1)', DIV.replace('text', '<a href="&#106;ava&#10;script:a()">a</a>')],
  ['a document as an image (txt-1)', DIV.replace('text', '<img src="data:text/html,a" alt="a"/>')],
  ['capitals (txt-1)', DIV.replace('text', '<P>a</P>')],
  ['an attribute of another element (txt-1)', DIV.replace('text', '<p href="a">a</p>')],
  ['tags that do not pair', DIV.replace('text', '<b><i>a</b></i>')],
  ['a tag that is not closed', DIV.replace('text', 'a<br>')],
  ['an attribute without quotes', DIV.replace('text', '<p class=a>a</p>')],
  ['an attribute without value', DIV.replace('text', '<p class>a</p>')],
  ['an attribute twice', DIV.replace('text', '<p id="a" id="b">a</p>')],
  ['an HTML entity', DIV.replace('text', 'a&nbsp;b')],
  ['a bare ampersand', DIV.replace('text', 'a & b')],
  ['a bare less-than', DIV.replace('text', 'a < b')],
  ['CDATA', DIV.replace('text', '<![CDATA[a]]>')],
  ['a processing instruction', DIV.replace('text', '<?php a ?>a')],
  ['a DOCTYPE', `<!DOCTYPE html>${DIV}`],
  ['a comment with two hyphens', DIV.replace('text', 'a<!-- b -- c -->')],
  ['two divs', DIV + DIV],
  ['text after the div', `${DIV}a`],
  ['an end that is missing', DIV.slice(0, -6)],
  ['a control character', DIV.replace('text', 'a\u0001')],
].map(([title = '', div = '']): Fault => [`XHTML: ${title}`, narrated(div), 'Patient.text.div', 'value']);
