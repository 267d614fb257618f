// Creates a CodeMirror editor inside a shadow root.
import { history, historyKeymap, indentWithTab, standardKeymap } from '@codemirror/commands'
import { StreamLanguage, indentUnit } from '@codemirror/language'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { editorTheme } from './editor-theme.ts'
import type { TextPosition } from './positions.ts'
import { type EditorProblem, problemMarks, showProblems, toOffset } from './problem-marks.ts'
import { type BaseLanguage, createTemplateParser } from './template-language.ts'

export type EditorLanguage = { readonly base: BaseLanguage; readonly hasActions: boolean }

type EditorOptions = {
  parent: ShadowRoot
  text: string
  label: string
  /** The id of the element in the shadow root that describes how to leave the editor. */
  descriptionId: string
  language: EditorLanguage
  isReadOnly: boolean
  phrases: Readonly<Record<string, string>>
  onChange: (text: string) => void
}

export type Editor = {
  readonly setText: (text: string) => void
  readonly setLanguage: (language: EditorLanguage) => void
  readonly setProblems: (problems: readonly EditorProblem[]) => void
  /** Moves the cursor to a position, scrolls it into view and focuses the editor. */
  readonly jumpTo: (position: TextPosition) => void
  readonly destroy: () => void
}

const createLanguage = ({ base, hasActions }: EditorLanguage): Extension =>
  StreamLanguage.define(createTemplateParser(base, hasActions))

/** Tab indents, so Escape makes it move the focus instead, until the editor gets the focus again. */
const leaveByKeyboard: Extension = [
  keymap.of([
    {
      key: 'Escape',
      run: (view) => {
        view.setTabFocusMode(true)
        return false
      },
    },
    indentWithTab,
  ]),
  EditorView.domEventHandlers({ focus: (_event, view) => view.setTabFocusMode(false) }),
]

/**
 * Inserts typed text by a transaction. If the browser replaced a selection itself, it would keep the color of the
 * replaced text in a style attribute, which the policy of the page forbids.
 */
const insertByTransaction: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.data === null || view.composing) return false
    event.preventDefault()
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})

/** CodeMirror reads dropped files into the text. Larger files exceed every limit of the API and would block the page. */
const maxDroppedBytes = 1_048_576
const refuseLargeFiles: Extension = EditorView.domEventHandlers({
  drop: (event) => {
    const isLarge = [...(event.dataTransfer?.files ?? [])].some(({ size }) => size > maxDroppedBytes)
    // Otherwise, the browser would open the file in place of the page.
    if (isLarge) event.preventDefault()
    return isLarge
  },
})

export function createEditor({
  parent,
  text,
  label,
  descriptionId,
  isReadOnly,
  ...options
}: EditorOptions): Editor {
  const language = new Compartment()
  const editing: Extension = isReadOnly
    ? EditorState.readOnly.of(true)
    : [history(), leaveByKeyboard, insertByTransaction, refuseLargeFiles, keymap.of(historyKeymap)]
  const view = new EditorView({
    parent,
    root: parent,
    doc: text,
    extensions: [
      ...(isReadOnly ? [] : [problemMarks]),
      lineNumbers(),
      highlightSpecialChars(),
      editing,
      keymap.of(standardKeymap),
      language.of(createLanguage(options.language)),
      editorTheme,
      indentUnit.of('  '),
      EditorState.tabSize.of(2),
      EditorState.phrases.of({ ...options.phrases }),
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-describedby': descriptionId,
        ...(isReadOnly ? { 'aria-readonly': 'true' } : {}),
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) options.onChange(state.doc.toString())
      }),
    ],
  })
  return {
    setText: (next) => {
      if (next !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    setLanguage: (next) => view.dispatch({ effects: language.reconfigure(createLanguage(next)) }),
    setProblems: (problems) => {
      if (!isReadOnly) showProblems(view, problems)
    },
    jumpTo: (position) => {
      const anchor = toOffset(view.state.doc, position)
      view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { y: 'center', x: 'nearest' }),
      })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}
