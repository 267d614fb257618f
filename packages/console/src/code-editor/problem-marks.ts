// Marks problems in the text: a wavy line below the expression, a sign beside the line number, and the message as a
// tooltip. The lint package of CodeMirror has panels and popups as well, which are larger than the rest of this folder.
import { type Extension, type Range, RangeSet, StateEffect, StateField, type Text } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter } from '@codemirror/view'
import { type TextPosition, findIndex, findWordEnd } from './positions.ts'

/** A problem in the text. */
export type EditorProblem = TextPosition & {
  readonly severity: 'warning' | 'error'
  readonly message: string
}
type Marks = { readonly expressions: DecorationSet; readonly signs: RangeSet<GutterMarker> }

const signs = { warning: '▲', error: '✕' }

class Sign extends GutterMarker {
  readonly #problem: EditorProblem

  constructor(problem: EditorProblem) {
    super()
    this.#problem = problem
  }

  override toDOM(): Node {
    const { severity, message } = this.#problem
    const element = document.createElement('span')
    element.className = `cm-sign cm-sign-${severity}`
    element.title = message
    element.textContent = signs[severity]
    return element
  }
}

/** Returns the index of a position, or of the nearest one if the text has become shorter. */
export function toOffset(doc: Text, { line, column }: TextPosition): number {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return from + findIndex(text, column)
}

/** Marks the expression at the position, or the character before the end of a line; nothing on an empty line. */
function markExpression(doc: Text, problem: EditorProblem): Range<Decoration>[] {
  const offset = toOffset(doc, problem)
  const line = doc.lineAt(offset)
  if (line.length === 0) return []
  const from = Math.min(offset, line.to - 1)
  const to = Math.max(from + 1, line.from + findWordEnd(line.text, from - line.from))
  const attributes = { title: problem.message }
  return [Decoration.mark({ class: `cm-problem-${problem.severity}`, attributes }).range(from, to)]
}

function createMarks(doc: Text, problems: readonly EditorProblem[]): Marks {
  const byLine = Map.groupBy(problems, (problem) => doc.lineAt(toOffset(doc, problem)).from)
  const markers = [...byLine].flatMap(([from, list]) => {
    // A line has room for one sign, and an error is more important.
    const problem = list.find(({ severity }) => severity === 'error') ?? list[0]
    return problem === undefined ? [] : [new Sign(problem).range(from)]
  })
  return {
    expressions: Decoration.set(
      problems.flatMap((problem) => markExpression(doc, problem)),
      true,
    ),
    signs: RangeSet.of<GutterMarker>(markers, true),
  }
}

const setProblems = StateEffect.define<readonly EditorProblem[]>()

/** While the person types, the marks move with the text until the next result arrives. */
const field = StateField.define<Marks>({
  create: (state) => createMarks(state.doc, []),
  update: (marks, { changes, docChanged, effects, newDoc }) => {
    for (const effect of effects) if (effect.is(setProblems)) return createMarks(newDoc, effect.value)
    if (!docChanged) return marks
    return { expressions: marks.expressions.map(changes), signs: marks.signs.map(changes) }
  },
  provide: (self) => EditorView.decorations.from(self, ({ expressions }) => expressions),
})

export const problemMarks: Extension = [
  field,
  gutter({ class: 'cm-signs', markers: ({ state }) => state.field(field).signs }),
]

/** Replaces the marks of an editor with this extension. */
export const showProblems = (view: EditorView, problems: readonly EditorProblem[]): void =>
  view.dispatch({ effects: setProblems.of(problems) })
