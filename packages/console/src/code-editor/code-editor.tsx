// An editor for templates and bodies. The page loads this folder on demand, because CodeMirror is large.
import './code-editor.css'
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useRef,
} from 'react'
import { flushSync } from 'react-dom'
import { useText } from '../texts/language.tsx'
import { type Editor, type EditorLanguage, createEditor } from './create-editor.ts'
import type { TextPosition } from './positions.ts'
import type { EditorProblem } from './problem-marks.ts'

export type EditorHandle = { readonly jumpTo: (position: TextPosition) => void }

type CodeEditorProps = {
  /** Names the editor for screen readers. */
  label: string
  value: string
  language: EditorLanguage['base']
  /** Whether `{{ … }}` is an action of a template. */
  hasActions?: boolean
  /** Without it, the text can be read and selected only. */
  onChange?: (value: string) => void
  problems?: readonly EditorProblem[]
  handle?: RefObject<EditorHandle | null>
}

const noProblems: readonly EditorProblem[] = []

export function CodeEditor({
  label,
  value,
  language,
  hasActions = false,
  ...props
}: CodeEditorProps): ReactNode {
  const { onChange, problems = noProblems, handle } = props
  const t = useText()
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor>(null)
  const hintId = useId()
  const isReadOnly = onChange === undefined
  // The page follows each change immediately: a later effect could put an older text back.
  const change = useEffectEvent((text: string) => {
    if (text !== value) flushSync(() => onChange?.(text))
  })
  const create = useEffectEvent((parent: ShadowRoot, name: string, isFixed: boolean) => {
    const description = document.createElement('span')
    description.id = hintId
    description.hidden = true
    description.textContent = isFixed ? '' : t('codeEditor.leaveHint')
    parent.replaceChildren(description)
    const created = createEditor({
      parent,
      text: value,
      label: name,
      descriptionId: hintId,
      language: { base: language, hasActions },
      isReadOnly: isFixed,
      phrases: { 'Control character': t('codeEditor.controlCharacter') },
      onChange: change,
    })
    created.setProblems(problems)
    return created
  })
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    // A shadow root cannot be removed, so an element that is mounted again keeps it.
    const created = create(element.shadowRoot ?? element.attachShadow({ mode: 'open' }), label, isReadOnly)
    editor.current = created
    return () => {
      editor.current = null
      created.destroy()
    }
  }, [label, isReadOnly])
  useEffect(() => editor.current?.setLanguage({ base: language, hasActions }), [language, hasActions])
  useEffect(() => editor.current?.setText(value), [value])
  // The positions belong to the text, so the text is set first.
  useEffect(() => editor.current?.setProblems(problems), [problems])
  useImperativeHandle(handle, () => ({ jumpTo: (position) => editor.current?.jumpTo(position) }), [])
  return <div ref={host} className="code-editor" />
}
