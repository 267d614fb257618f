// Reads the types of docs/reference/svc-json-types.md, and compares JSON values with them.
import { readFileSync } from 'node:fs'

export type Shape =
  | { kind: 'name'; name: string }
  | { kind: 'list'; item: Shape }
  | { kind: 'union'; members: Shape[] }
  | { kind: 'object'; fields: Map<string, { shape: Shape; isOptional: boolean }> }
export type Shapes = ReadonlyMap<string, Shape>

const readDoc = (page: string): string =>
  readFileSync(new URL(`../../../../docs/reference/${page}`, import.meta.url), 'utf8')

/** Reads the types of the page, by name. */
export function readShapes(): Map<string, Shape> {
  const blocks = [...readDoc('svc-json-types.md').matchAll(/```ts\n(.*?)```/gs)].map(([, text = '']) => text)
  return parseShapes(blocks.join('\n'))
}

/** Reads the tables of the page. Maps a command to its type, such as `Project[]`. */
export function readCommandTypes(): Map<string, string> {
  const types = new Map<string, string>()
  for (const [, commands = '', type = ''] of readDoc('svc-json.md').matchAll(/^\| (`.+?) +\| `(.+?)` +\|$/gm))
    for (const [, command = ''] of commands.matchAll(/`([^`]+)`/g)) types.set(command, type)
  return types
}

/** Parses definitions such as `type A = { b: string; c?: A[] | null }`. */
export function parseShapes(text: string): Map<string, Shape> {
  const tokens = text.match(/[A-Za-z_]\w*|\[\]|[{}|?:=]/g) ?? []
  let position = 0
  const take = (expected?: string): string => {
    const token = tokens[position++]
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new Error(`expected ${expected}, found ${token} at token ${position}`)
    return token
  }
  const parseType = (): Shape => {
    const members = []
    do {
      if (tokens[position] === '|') take('|')
      members.push(parseMember())
    } while (tokens[position] === '|')
    return members.length === 1 ? (members[0] as Shape) : { kind: 'union', members }
  }
  const parseMember = (): Shape => {
    let shape: Shape = tokens[position] === '{' ? parseObject() : { kind: 'name', name: take() }
    while (tokens[position] === '[]') {
      take('[]')
      shape = { kind: 'list', item: shape }
    }
    return shape
  }
  const parseObject = (): Shape => {
    const fields = new Map<string, { shape: Shape; isOptional: boolean }>()
    take('{')
    while (tokens[position] !== '}') {
      const name = take()
      const isOptional = tokens[position] === '?'
      if (isOptional) take('?')
      take(':')
      fields.set(name, { shape: parseType(), isOptional })
    }
    take('}')
    return { kind: 'object', fields }
  }
  const shapes = new Map<string, Shape>()
  while (position < tokens.length) {
    take('type')
    const name = take()
    take('=')
    shapes.set(name, parseType())
  }
  return shapes
}

/** Returns how the value differs from a type such as `Project[]`. */
export function findDifferences(value: unknown, type: string, shapes: Shapes): string[] {
  const shape = parseShapes(`type Root = ${type}`).get('Root') as Shape
  return compare(value, shape, { at: '', shapes })
}

type Position = { at: string; shapes: Shapes }

function compare(value: unknown, shape: Shape, position: Position): string[] {
  switch (shape.kind) {
    case 'union': {
      const results = shape.members.map((member) => compare(value, member, position))
      return results.find((problems) => problems.length === 0) ?? results[0] ?? []
    }
    case 'list':
      if (!Array.isArray(value)) return [`${position.at}: is not an array`]
      return value.flatMap((item, index) =>
        compare(item, shape.item, { ...position, at: `${position.at}[${index}]` }),
      )
    case 'object':
      return compareObject(value, shape, position)
    case 'name':
      return compareName(value, shape.name, position)
  }
}

function compareObject(value: unknown, { fields }: Shape & { kind: 'object' }, position: Position): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${position.at}: is not an object`]
  const row = value as Record<string, unknown>
  const unknownFields = Object.keys(row).filter((name) => !fields.has(name))
  return [
    ...unknownFields.map((name) => `${position.at}.${name}: is not documented`),
    ...[...fields].flatMap(([name, { shape, isOptional }]) => {
      const at = `${position.at}.${name}`
      if (!(name in row)) return isOptional ? [] : [`${at}: is missing`]
      return compare(row[name], shape, { ...position, at })
    }),
  ]
}

function compareName(value: unknown, name: string, position: Position): string[] {
  if (name === 'unknown') return []
  if (name === 'null') return value === null ? [] : [`${position.at}: is not null`]
  if (['string', 'number', 'boolean'].includes(name))
    return typeof value === name ? [] : [`${position.at}: is not a ${name}`]
  const shape = position.shapes.get(name)
  return shape === undefined
    ? [`${position.at}: type ${name} is not defined`]
    : compare(value, shape, position)
}
