// The look of the editor. The editor lives in a shadow root, so that CodeMirror adopts its style sheets instead of adding
// style elements, which the policy of the page forbids. The tokens of the console are inherited.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const base = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { font: '400 12px/20px var(--mono)', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 16px 0 8px' },
  '.cm-gutters': { border: 'none', color: 'var(--text-3)', backgroundColor: 'transparent' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '24px', padding: '0 8px 0 0' },
  '.cm-specialChar': { color: 'var(--danger-text)' },
  // The line is marked as well, because a wavy line below one character is easy to miss.
  '.cm-line:has(.cm-problem-warning)': { backgroundColor: 'var(--warn-tint)' },
  '.cm-line:has(.cm-problem-error)': { backgroundColor: 'var(--danger-tint)' },
  '.cm-problem-warning': { textDecoration: 'underline wavy var(--warn)', textUnderlineOffset: '3px' },
  '.cm-problem-error': { textDecoration: 'underline wavy var(--danger)', textUnderlineOffset: '3px' },
  '.cm-signs': { width: '20px' },
  '.cm-sign': { display: 'block', textAlign: 'center', cursor: 'default' },
  '.cm-sign-warning': { color: 'var(--warn)' },
  '.cm-sign-error': { color: 'var(--danger)' },
})

const colors = HighlightStyle.define([
  { tag: [tags.meta, tags.keyword, tags.function(tags.variableName)], color: 'var(--accent-text)' },
  { tag: tags.variableName, color: 'var(--accent-text)' },
  { tag: tags.string, color: 'var(--ok-text)' },
  { tag: [tags.propertyName, tags.tagName, tags.attributeName], color: 'var(--info-text)' },
  { tag: [tags.comment, tags.operator], color: 'var(--text-2)' },
  { tag: tags.atom, fontWeight: '600' },
])

export const editorTheme: Extension = [base, syntaxHighlighting(colors)]
