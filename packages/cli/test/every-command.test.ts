// Runs every command once. Compares the JSON output with its documentation, and the requests with the operations of the
// API: a person can reach each operation with a command.
import type { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'
import { matchesRoute, readMutations, readPersonRoutes } from './kit/api-operations.ts'
import { type Played, splitLine, useCommandScene } from './kit/command-scene.ts'
import { lines } from './kit/every-command.ts'
import { findDifferences, parseShapes, readCommandTypes, readShapes } from './kit/shapes.ts'

const program = await createProgram({} as Parameters<typeof createProgram>[0])
const { play } = useCommandScene()
const played: Played[] = []
beforeAll(async () => {
  for (const line of lines) {
    const result = await play(line)
    if (result !== null) played.push(result)
  }
})

/** Commands that print no JSON, and the reason. */
const withoutJson: Readonly<Record<string, string>> = {
  'audit export': 'has its own formats',
  export: 'prints a file for apply',
  api: 'prints the response of the API',
}
/** Commands that no line runs, and the reason. */
const notPlayed: Readonly<Record<string, string>> = {
  login: 'sign-in.test.ts signs in with a browser page',
  logout: 'needs a stored token; sign-in.test.ts tests it',
  completion: 'prints a shell script; program.test.ts tests it',
  help: 'prints a help text; help.test.ts tests it',
}
/** Operations that no command reaches, and the reason. */
const withoutCommand: Readonly<Record<string, string>> = {
  promoteApplication: 'always returns an error',
  copyApplication: 'always returns an error',
  'POST /query': 'every command that reads or changes objects',
  'POST /api/access/review': 'the form of the page; review attest sends the same decision as JSON',
  'POST /api/cli/login/start': 'login; sign-in.test.ts',
  'POST /api/cli/login/poll': 'login; sign-in.test.ts',
  'GET /cli/authorize': 'the page on which a person approves a login in the browser',
  'POST /cli/authorize': 'the form of that page',
  'GET /console': 'a page of the console',
  'GET /console/{view}': 'a page of the console',
  'GET /console/assets/{file}': 'a file of the console',
  'GET /pilets/{projectId}': 'pilets list reads the same versions with GraphQL',
  'DELETE /pilets/{projectId}/{name}/{version}': 'pilets delete disables the version with GraphQL',
}

/** Returns the words of a line that name its command, such as "projects list". */
function nameCommand(line: string): string {
  const words: string[] = []
  let command: Command = program
  for (const word of splitLine(line)) {
    const next = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word))
    if (next === undefined) break
    command = next
    words.push(next.name())
  }
  return words.join(' ')
}

const listLeaves = (command: Command, words: readonly string[] = []): string[] =>
  command.commands.length === 0
    ? [words.join(' ')]
    : command.commands.flatMap((one) => listLeaves(one, [...words, one.name()]))

test('every line of the scene succeeds', () => {
  expect(played.filter(({ code }) => code !== 0).map(({ line, err }) => [line, err])).toEqual([])
})

test('the scene runs every command, except those that are listed with a reason', () => {
  const names = new Set(played.map(({ line }) => nameCommand(line)))
  const leaves = listLeaves(program)
  expect(leaves.length).toBeGreaterThan(120)
  expect(leaves.filter((leaf) => !names.has(leaf)).toSorted()).toEqual(Object.keys(notPlayed).toSorted())
})

test('a person needs no ids: every line names its objects by slug, name or e-mail address', () => {
  const texts = played.map(({ line }) => line)
  expect(texts.filter((line) => /[0-9a-f]{8}-[0-9a-f]{4}|\b[0-9a-f]{12,}\b/i.test(line))).toEqual([])
})

describe('the JSON output', () => {
  const shapes = readShapes()
  const types = readCommandTypes()

  /** Returns the documented type of a line, or undefined. */
  function findType(line: string): string | undefined {
    const name = nameCommand(line)
    if (line.startsWith('whoami --can')) return types.get('whoami --can')
    const [group = '', action] = name.split(' ')
    const objectType = types.get(group)
    const isCrud = action !== undefined && ['list', 'get', 'create', 'update', 'delete'].includes(action)
    return (
      types.get(name) ??
      (isCrud && objectType !== undefined ? objectType + (action === 'list' ? '[]' : '') : undefined)
    )
  }

  test('of each command has exactly the documented fields', () => {
    const differences = played.flatMap(({ line, out }) => {
      if (nameCommand(line) in withoutJson || / --file /.test(line)) return []
      const type = findType(line)
      if (type === undefined) return [`${line}: is not documented`]
      const problems = out === '' ? [': prints nothing'] : findDifferences(JSON.parse(out), type, shapes)
      return problems.map((problem) => `${line}${problem}`)
    })
    expect(differences).toEqual([])
  })

  test('of each list is not empty, so that its rows were compared', () => {
    const empty = played.filter(
      ({ out, line }) => out.trim() === '[]' && nameCommand(line) !== 'pilets usage',
    )
    expect(empty.map(({ line }) => line)).toEqual([])
  })

  test('is documented only for commands that exist', () => {
    const known = new Set([
      ...listLeaves(program),
      ...program.commands.map((one) => one.name()),
      'whoami --can',
    ])
    expect([...types.keys()].filter((name) => !known.has(name))).toEqual([])
  })

  test('a missing, an additional and a wrong field would show', () => {
    const own = parseShapes('type A = { a: string; b?: A[] | null; c: number }')
    expect(findDifferences({ a: '', b: [{ a: '', c: 1 }], c: 1 }, 'A', own)).toEqual([])
    expect(findDifferences([{ a: 1, b: null, d: 1 }], 'A[]', own)).toEqual([
      '[0].d: is not documented',
      '[0].a: is not a string',
      '[0].c: is missing',
    ])
    expect(findDifferences({}, 'B', own)).toEqual([': type B is not defined'])
  })
})

describe('the operations of the API', () => {
  test('every mutation is reached by a command, or listed with a reason', () => {
    const mutations = readMutations()
    expect(mutations.length).toBeGreaterThan(60)
    const reached = new Set(played.flatMap((one) => (nameCommand(one.line) === 'api' ? [] : one.mutations)))
    expect(mutations.filter((name) => !reached.has(name) && !(name in withoutCommand))).toEqual([])
  })

  test('every REST route that a person may call is reached by a command, or listed with a reason', () => {
    const routes = readPersonRoutes()
    expect(routes.length).toBeGreaterThan(10)
    const requests = played.flatMap((one) => (nameCommand(one.line) === 'api' ? [] : one.requests))
    const missing = routes.filter((route) => !requests.some((request) => matchesRoute(request, route)))
    expect(missing.filter((route) => !(route in withoutCommand))).toEqual([])
  })

  test('no operation is listed that a command reaches, or that does not exist', () => {
    const [mutations, routes] = [readMutations(), readPersonRoutes()]
    const reached = new Set(played.flatMap((one) => one.mutations))
    const requests = played.flatMap((one) => one.requests)
    const listed = Object.keys(withoutCommand).filter(
      (name) =>
        reached.has(name) ||
        requests.some((request) => matchesRoute(request, name)) ||
        (!mutations.includes(name) && !routes.includes(name)),
    )
    expect(listed).toEqual([])
  })
})
