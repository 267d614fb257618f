// Extracts the texts in the source tree that people read: comments, messages, names and documentation sentences.
import { Visitor, parseSync } from 'oxc-parser'

export type Text = { file: string; line: number; text: string }
export type SourceTexts = { comments: Text[]; messages: Text[]; names: Text[] }

const directivePattern = /^(?:oxlint|eslint|@ts-|prettier-|v8 |c8 |#region|!)/
const sqlPattern =
  /^\s*(?:select|insert|update|delete|with|create|alter|drop|grant|revoke|set|lock|begin|listen|explain|from|where|on|order|and|returning)\b/i
const sqlPartPattern =
  /\b(?:case when|(?:left|cross) join|join \S+ [a-z] on|is not null|(?:coalesce|to_char|now|exists|redis\.call) ?\()|::[a-z]|\b[a-z_]+\.[a-z_]+ = |^\(?select |^[\w.]+ as \w+$/i

/**
 * Returns the comments, the string literals of at least three words, and the declared names in a TypeScript or
 * JavaScript file.
 */
export function readSourceTexts(file: string, source: string): SourceTexts {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`Cannot parse ${file}: ${errors[0]?.message}`)
  const findLine = createLineFinder(source)
  const messages: Text[] = []
  const names = new Map<string, Text>()
  const addMessage = (text: string, start: number): void => {
    const isProse =
      text.trim().split(/\s+/).length >= 3 &&
      /[a-z]{3} [a-z]/i.test(text) &&
      ![sqlPattern, sqlPartPattern].some((pattern) => pattern.test(text))
    if (isProse) messages.push({ file, line: findLine(start), text: text.trim() })
  }
  const addName = (node: { type: string; name?: unknown; start: number } | null | undefined): void => {
    if (node?.type === 'Identifier' && typeof node.name === 'string' && !names.has(node.name))
      names.set(node.name, { file, line: findLine(node.start), text: node.name })
  }
  new Visitor({
    Literal: ({ value, start }) => {
      if (typeof value === 'string') addMessage(value, start)
    },
    TemplateLiteral: ({ quasis, start }) =>
      addMessage(quasis.map(({ value }) => value.cooked ?? '').join('…'), start),
    FunctionDeclaration: ({ id }) => addName(id),
    VariableDeclarator: ({ id }) => addName(id),
    ClassDeclaration: ({ id }) => addName(id),
    TSTypeAliasDeclaration: ({ id }) => addName(id),
    TSPropertySignature: ({ key }) => addName(key),
    MethodDefinition: ({ key }) => addName(key),
  }).visit(program)
  return { comments: joinComments(file, source, comments, findLine), messages, names: [...names.values()] }
}

/** Returns a function that uses binary search to find the line that contains an offset. */
function createLineFinder(source: string): (offset: number) => number {
  const starts = [0]
  for (let end = source.indexOf('\n'); end >= 0; end = source.indexOf('\n', end + 1)) starts.push(end + 1)
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

type Comment = { type: string; value: string; start: number; end: number }

/** Joins line comments on adjacent lines into one string and omits directives. */
function joinComments(
  file: string,
  source: string,
  comments: readonly Comment[],
  findLine: (offset: number) => number,
): Text[] {
  const texts: (Text & { end: number; type: string })[] = []
  for (const { type, value, start, end } of comments) {
    const text = value
      .split('\n')
      .map((line) => line.replace(/^\s*\*?\s?/, '').trim())
      .join(' ')
      .trim()
    if (text === '' || directivePattern.test(text)) continue
    const previousText = texts.at(-1)
    const isContinuation =
      type === 'Line' &&
      previousText?.type === 'Line' &&
      /^\n[ \t]*$/.test(source.slice(previousText.end, start)) &&
      isWholeLine(source, previousText.end)
    if (isContinuation) Object.assign(previousText, { text: `${previousText.text} ${text}`, end })
    else texts.push({ file, line: findLine(start), text, end, type })
  }
  return texts.map(({ line, text }) => ({ file, line, text }))
}

/** Returns whether the comment that ends here is on its own line instead of after code. */
const isWholeLine = (source: string, end: number): boolean =>
  /^\s*\/\//.test(source.slice(source.lastIndexOf('\n', end - 1) + 1, end))

/** Returns the sentences of a Markdown page without code blocks, tables, headings and HTML. */
export function readSentences(file: string, page: string): Text[] {
  const texts: Text[] = []
  let isCode = false
  let paragraph: { line: number; lines: string[] } | undefined
  const flush = (): void => {
    if (paragraph !== undefined) texts.push(...splitSentences(file, paragraph))
    paragraph = undefined
  }
  for (const [index, line] of page.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed.startsWith('```')) isCode = !isCode
    const isItem = /^(?:[-*>] |\d+\. )/.test(trimmed)
    const isProse = !isCode && trimmed !== '' && !/^(?:```|#|\||<|!\[)/.test(trimmed)
    if (!isProse || isItem) flush()
    if (isProse) {
      paragraph ??= { line: index + 1, lines: [] }
      paragraph.lines.push(trimmed.replace(/^(?:[-*>] |\d+\. )/, ''))
    }
  }
  flush()
  return texts
}

function splitSentences(file: string, { line, lines }: { line: number; lines: string[] }): Text[] {
  const paragraph = lines.join(' ')
  return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(maskMarkup(paragraph))]
    .map(({ index, segment }) => paragraph.slice(index, index + segment.length).trim())
    .filter((text) => text.split(/\s+/).length >= 4)
    .map((text) => ({ file, line, text }))
}

/** Replaces code and links with letters of the same length, because dots in them do not end a sentence. */
const maskMarkup = (paragraph: string): string =>
  paragraph
    .replaceAll(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, (markup) => 'X'.repeat(markup.length))
    .replaceAll('**', '""')
