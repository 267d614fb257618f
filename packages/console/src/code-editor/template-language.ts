// A tokenizer for Go templates whose text is JSON, XML or neither. It only colors: the API decides what is valid.
import type { StreamParser, StringStream } from '@codemirror/language'

export type BaseLanguage = 'json' | 'xml' | 'text'

type State = {
  readonly hasActions: boolean
  /** Inside `{{ … }}`. */
  isInAction: boolean
  /** The quote of a raw string in an action that continues on the next line. */
  isInRawString: boolean
  isInComment: boolean
  /** The quote of a JSON string or an XML attribute that an action interrupts; null outside of one. */
  quote: '"' | "'" | null
  isInTag: boolean
  isInXmlComment: boolean
}

const keywords = new Set([
  'if',
  'else',
  'end',
  'range',
  'with',
  'define',
  'template',
  'block',
  'break',
  'continue',
])

/** Returns whether the text continues like this, and reads that part. */
const takes = (stream: StringStream, pattern: RegExp): boolean => Boolean(stream.match(pattern))
/** Returns whether the text continues like this. */
const sees = (stream: StringStream, pattern: RegExp): boolean => Boolean(stream.match(pattern, false))

/** Reads up to the end of a multi-line token, or to the end of the line. Returns whether the end was found. */
function skipPast(stream: StringStream, end: string): boolean {
  const rest = stream.string.indexOf(end, stream.pos)
  stream.pos = rest === -1 ? stream.string.length : rest + end.length
  return rest !== -1
}

function readAction(stream: StringStream, state: State): string | null {
  if (state.isInComment) {
    state.isInComment = !skipPast(stream, '*/')
    return 'comment'
  }
  if (state.isInRawString) {
    state.isInRawString = !skipPast(stream, '`')
    return 'string'
  }
  if (stream.eatSpace()) return null
  if (takes(stream, /^-?\}\}/)) {
    state.isInAction = false
    return 'meta'
  }
  if (takes(stream, /^\/\*/)) {
    state.isInComment = !skipPast(stream, '*/')
    return 'comment'
  }
  if (stream.eat('`') !== undefined) {
    state.isInRawString = !skipPast(stream, '`')
    return 'string'
  }
  if (takes(stream, /^"(?:[^"\\]|\\.)*"?/)) return 'string'
  if (takes(stream, /^\$\w*/)) return 'variableName'
  if (takes(stream, /^(?:\.\w+)+/)) return 'propertyName'
  if (takes(stream, /^[+-]?\d[\w.]*/)) return 'number'
  if (takes(stream, /^[A-Za-z_]\w*/)) {
    const name = stream.current()
    if (name === 'true' || name === 'false' || name === 'nil') return 'atom'
    return keywords.has(name) ? 'keyword' : 'variableName.function'
  }
  stream.next()
  return 'operator'
}

/** Reads the content of a string, which an action can interrupt. */
function readQuoted(stream: StringStream, state: State, escapes: boolean): string {
  while (!stream.eol() && !(state.hasActions && sees(stream, /^\{\{/))) {
    const character = stream.next()
    if (escapes && character === '\\') stream.next()
    else if (character === state.quote) {
      state.quote = null
      break
    }
  }
  return 'string'
}

function readJson(stream: StringStream, state: State): string | null {
  // A string of JSON ends with its line, so a missing quote does not color the rest of the text.
  if (stream.sol()) state.quote = null
  if (state.quote !== null) return readQuoted(stream, state, true)
  if (stream.eatSpace()) return null
  // A key is a string before a colon; a key that contains an action is colored as a string.
  if (takes(stream, /^"(?:[^"\\{]|\\.|\{(?!\{))*"(?=\s*:)/)) return 'propertyName'
  if (stream.eat('"') !== undefined) {
    state.quote = '"'
    return readQuoted(stream, state, true)
  }
  if (takes(stream, /^-?\d[\d.eE+-]*/)) return 'number'
  if (takes(stream, /^(?:true|false|null)\b/)) return 'atom'
  stream.next()
  return 'bracket'
}

function readXml(stream: StringStream, state: State): string | null {
  if (state.isInXmlComment) {
    state.isInXmlComment = !skipPast(stream, '-->')
    return 'comment'
  }
  if (state.quote !== null) return readQuoted(stream, state, false)
  if (state.isInTag) {
    if (stream.eatSpace()) return null
    if (takes(stream, /^[/?]?>/)) {
      state.isInTag = false
      return 'bracket'
    }
    const quote = stream.eat(/["']/)
    if (quote !== undefined) {
      state.quote = quote === '"' ? '"' : "'"
      return readQuoted(stream, state, false)
    }
    if (takes(stream, /^[\w:.-]+/)) return 'attributeName'
    stream.next()
    return 'operator'
  }
  if (takes(stream, /^<!--/)) {
    state.isInXmlComment = !skipPast(stream, '-->')
    return 'comment'
  }
  if (takes(stream, /^<[/?!]?[\w:.-]*/)) {
    state.isInTag = true
    return 'tagName'
  }
  return readText(stream)
}

/** Reads text up to the next tag or action. */
function readText(stream: StringStream): null {
  stream.next()
  stream.eatWhile(/[^<{]/)
  return null
}

const readers = { json: readJson, xml: readXml, text: readText }

/** Returns the tokenizer. With `hasActions` false, `{{` is ordinary text, as in a body or in the result. */
export const createTemplateParser = (base: BaseLanguage, hasActions: boolean): StreamParser<State> => ({
  name: hasActions ? `template-${base}` : base,
  startState: () => ({
    hasActions,
    isInAction: false,
    isInRawString: false,
    isInComment: false,
    quote: null,
    isInTag: false,
    isInXmlComment: false,
  }),
  copyState: (state) => ({ ...state }),
  token: (stream, state) => {
    if (state.isInAction) return readAction(stream, state)
    if (hasActions && takes(stream, /^\{\{-?/)) {
      state.isInAction = true
      return 'meta'
    }
    return readers[base](stream, state)
  },
})
