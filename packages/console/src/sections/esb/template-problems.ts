// The problems of a template, from the warnings and errors of the API.
import type { Failure } from '../../api/failures.ts'
import type { EsbPreviewResult } from '../../generated/documents.ts'

type Preview = EsbPreviewResult['previewESBTransform']
export type TemplateProblem = {
  readonly severity: 'warning' | 'error'
  readonly message: string
  /** Where the problem is in the template; null for problems of the body and of the result. */
  readonly position: { readonly line: number; readonly column: number } | null
}

/** The API names the position inside of its message, such as `template:6:23: unexpected "}" in operand`. */
const positionPattern = /template:(\d{1,7}):(\d{1,7}): ([^\n]*)/

export const listWarnings = (preview: Preview | undefined): readonly TemplateProblem[] =>
  (preview?.warnings ?? []).map(({ message, line, column }) => ({
    severity: 'warning',
    message,
    position: line === null ? null : { line, column: column ?? 1 },
  }))

/** Returns the problem that made the API reject the template or the body; nothing if the request failed otherwise. */
export function listErrors(failure: Failure | null): readonly TemplateProblem[] {
  if (failure?.kind !== 'invalid') return []
  const message = failure.fields.at(0)?.message ?? failure.message
  const found = positionPattern.exec(message)
  if (found === null)
    return [{ severity: 'error', message: message.split('\n', 1)[0] ?? message, position: null }]
  const [, line, column, reason = ''] = found
  return [{ severity: 'error', message: reason, position: { line: Number(line), column: Number(column) } }]
}

type BodyLanguage = 'json' | 'xml' | 'text'

/** Returns the language that a message type has. Without a type, the Manager sends JSON. */
export const toLanguage = (type: string | null): BodyLanguage =>
  type === 'XML' || type === 'SOAP' ? 'xml' : 'json'

/** Returns the language of a body, whose type may not be known. */
export function findBodyLanguage(type: string | null, body: string): BodyLanguage {
  if (type !== null) return toLanguage(type)
  const start = body.trimStart().charAt(0)
  if (start === '<') return 'xml'
  return start === '{' || start === '[' ? 'json' : 'text'
}

/** Returns a body to start with while no call was logged. */
export const createSampleBody = (type: string | null): string =>
  toLanguage(type) === 'xml' ? '<order>\n  <id>1</id>\n</order>' : '{\n  "id": 1\n}'
