// The editor is loaded when a page shows it, because CodeMirror is larger than any page.
import { loadOnDemand } from '../../kit/on-demand.tsx'

export const CodeEditor = loadOnDemand(() =>
  import('../../code-editor/code-editor.tsx').then((module) => module.CodeEditor),
)
