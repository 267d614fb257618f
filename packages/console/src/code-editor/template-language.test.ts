import { StringStream } from '@codemirror/language'
import { expect, test } from 'vitest'
import { type BaseLanguage, createTemplateParser } from './template-language.ts'

/** Returns the colored tokens of a text, as `style:text`. Adjacent tokens of one style are joined. */
function tokenize(text: string, base: BaseLanguage = 'json', hasActions = true): string[] {
  const parser = createTemplateParser(base, hasActions)
  const state = parser.startState?.(2)
  if (state === undefined) throw new Error('the parser has no state')
  const tokens: { style: string; text: string; row: number; end: number }[] = []
  for (const [row, line] of text.split('\n').entries()) {
    const stream = new StringStream(line, 2, 2)
    while (!stream.eol()) {
      stream.start = stream.pos
      const style = parser.token(stream, state)
      if (stream.pos === stream.start) throw new Error(`no progress at ${stream.pos} of ${line}`)
      const last = tokens.at(-1)
      if (style === null) continue
      if (last?.style === style && last.row === row && last.end === stream.start) {
        last.text += stream.current()
        last.end = stream.pos
      } else tokens.push({ style, text: stream.current(), row, end: stream.pos })
    }
  }
  return tokens.map((token) => `${token.style}:${token.text}`)
}

test('actions inside of JSON keep the string around them', () => {
  expect(tokenize('{"a": "x{{.Data.id}}y"}')).toEqual([
    'bracket:{',
    'propertyName:"a"',
    'bracket::',
    'string:"x',
    'meta:{{',
    'propertyName:.Data.id',
    'meta:}}',
    'string:y"',
    'bracket:}',
  ])
})

test('keywords, functions, variables, strings, numbers and comments of an action are told apart', () => {
  expect(tokenize('{{- range $i, $c := .Data.list -}}{{toJson "a\\"}}" 1.5 true}}{{/* c */}}')).toEqual([
    'meta:{{-',
    'keyword:range',
    'variableName:$i',
    'operator:,',
    'variableName:$c',
    'operator::=',
    'propertyName:.Data.list',
    'meta:-}}{{',
    'variableName.function:toJson',
    'string:"a\\"}}"',
    'number:1.5',
    'atom:true',
    'meta:}}{{',
    'comment:/* c */',
    'meta:}}',
  ])
})

test('a comment and a raw string continue on the next line', () => {
  expect(tokenize('{{/* a\nb */}}x{{`c\nd`}}', 'text')).toEqual([
    'meta:{{',
    'comment:/* a',
    'comment:b */',
    'meta:}}',
    'meta:{{',
    'string:`c',
    'string:d`',
    'meta:}}',
  ])
})

test('actions inside of XML keep the tag and the attribute around them', () => {
  expect(tokenize('<a b="x{{.Data.b}}" {{if .Data.c}}c="1"{{end}}>t</a><!-- d -->', 'xml')).toEqual([
    'tagName:<a',
    'attributeName:b',
    'operator:=',
    'string:"x',
    'meta:{{',
    'propertyName:.Data.b',
    'meta:}}',
    'string:"',
    'meta:{{',
    'keyword:if',
    'propertyName:.Data.c',
    'meta:}}',
    'attributeName:c',
    'operator:=',
    'string:"1"',
    'meta:{{',
    'keyword:end',
    'meta:}}',
    'bracket:>',
    'tagName:</a',
    'bracket:>',
    'comment:<!-- d -->',
  ])
})

test('a string without an end colors only its own line', () => {
  expect(tokenize('"a\n1')).toEqual(['string:"a', 'number:1'])
})

test('without actions, braces are ordinary text', () => {
  expect(tokenize('"{{a}}"', 'json', false)).toEqual(['string:"{{a}}"'])
  expect(tokenize('{{if', 'json', false)).toEqual(['bracket:{{if'])
})

test('every text is read to its end, also a broken one', () => {
  const pieces = [
    '{{',
    '}}',
    '"',
    "'",
    '<',
    '>',
    '<!--',
    '-->',
    '/*',
    '*/',
    '`',
    '\\',
    '{',
    ' ',
    'a',
    '.',
    '$',
    '😀',
  ]
  const texts = pieces.flatMap((first) => pieces.map((second) => `${first}${second}\n${second}${first}`))
  for (const base of ['json', 'xml', 'text'] as const)
    for (const text of texts)
      // A tokenizer that makes no progress throws.
      expect([tokenize(text, base), tokenize(text, base, false)]).toHaveLength(2)
})
