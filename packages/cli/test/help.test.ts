// Tests the help of svc.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'
import { svcAt } from './kit/svc.ts'

const terminal = {} as Parameters<typeof createProgram>[0]

function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((one) => pathsOf(one, [...path, one.name()]))]
}
const paths = pathsOf(await createProgram(terminal))

test('there are commands for everything', () => {
  const groups = new Set(paths.map(([group]) => group))
  for (const name of [
    'login logout whoami projects tenants apps environments endpoints machine-users tokens triggers pilets',
    'language-packs settings audit esb apply completion members users roles invitations deployments backends',
    'calls runs evidence review notifications search access groups scim-tokens',
  ].flatMap((names) => names.split(' ')))
    expect(groups).toContain(name)
  expect(paths.length).toBeGreaterThan(150)
})

test('svc --help names every command, and fits one screen of 24 lines', async () => {
  const { out } = await svcAt('/', ['--help'])
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(24)
  const words = new Set(out.match(/[a-z-]+/g))
  const names = paths.filter(({ length }) => length === 1).map(([name = '']) => name)
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !words.has(name))).toEqual([])
  for (const option of ['--url <address>', '-o|--output <format>', '--json', '-h|--help'])
    expect(out).toContain(option)
})

test('a start loads only the commands that the command line names, and knows the names of the others', async () => {
  const all = await createProgram(terminal)
  const some = await createProgram(terminal, ['trigger', 'list'])
  const namesOf = (one: Command): string[] => [one.name(), ...one.aliases()]
  expect(some.commands.map(namesOf)).toEqual(all.commands.map(namesOf))
  const isLoaded = (one: Command): boolean => one.description() !== ''
  expect(some.commands.filter(isLoaded).map((one) => one.name())).toEqual(['triggers', 'completion', 'help'])
  expect(all.commands.filter((one) => !isLoaded(one))).toEqual([])
})

test.each(paths.map((path) => [path.join(' '), path] as const))(
  'the help of svc %s fits 80 columns, describes it, and has an example',
  async (_name, path) => {
    const { code, out, err } = await svcAt('/', [...path, '--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(out).toMatch(/^Usage: svc.*\n\n[A-Z]/)
    expect(out).toMatch(/\nExamples?:\n {2}\$ svc /)
  },
)

test.each(paths.map((path) => [path.join(' '), path] as const))(
  'the examples of svc %s are command lines that it takes',
  async (_name, path) => {
    const { out } = await svcAt('/', [...path, '--help'])
    const examples = [...out.matchAll(/^ {2}\$ svc (.*)$/gm)].map(
      ([, line = '']) => line.split(/ [<>] /)[0] ?? '',
    )
    for (const example of examples) {
      const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
      // Commander rejects an invalid example. A valid example fails later, at its first request, because there is
      // no credential.
      const { err } = await svcAt('/nowhere', words, { signal: AbortSignal.abort(new Error('asks')) })
      expect(err).not.toContain('error:')
    }
  },
)

test('the commands that the consent page of the Manager names exist', () => {
  const page = new URL('../../manager/src/features/cli-login/consent.page.ts', import.meta.url)
  const named = [...readFileSync(page, 'utf8').matchAll(/<code>svc ([a-z ]+?)(?: &lt;|<)/g)].map(
    ([, words = '']) => words,
  )
  expect(named).toEqual(['tokens list', 'tokens revoke'])
  expect(paths.map((path) => path.join(' '))).toEqual(expect.arrayContaining(named))
})

test('no command has an option that the program itself takes first', async () => {
  const program = await createProgram(terminal)
  const own = new Set<unknown>(program.options.flatMap(({ long, short }) => [long, short]))
  const flagsOf = (command: Command): unknown[] =>
    command.commands.flatMap((one) => [
      ...one.options.flatMap(({ long, short }) => [long, short]),
      ...flagsOf(one),
    ])
  const flags = flagsOf(program).filter((flag) => flag !== undefined)
  expect(flags.length).toBeGreaterThan(100)
  expect(flags.filter((flag) => own.has(flag))).toEqual([])
})

test('an example that it does not take would show', async () => {
  const { err } = await svcAt('/nowhere', ['tenants', 'list', '--projct', 'shop'])
  expect(err).toContain('error:')
})

test('wrong usage ends with 2 and says what is wrong', async () => {
  for (const [args, text] of [
    [['tenant', 'lst'], "error: unknown command 'lst'\n(Did you mean list?)"],
    [['projects', 'list', '--limt', '3'], "error: unknown option '--limt'\n(Did you mean --limit?)"],
    [['projects', 'create', 'shop'], "error: required option '--name <text>' not specified"],
    [['projects', 'list', '--output', 'xml'], 'Allowed choices are table, json, yaml.'],
    [['projects', 'list', '--limit', '0'], 'Use a whole number, 1 or greater.'],
    [['tenants', 'list', '--filter', 'name'], 'Use field=value.'],
  ] as const) {
    const { code, out, err } = await svcAt('/nowhere', args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(text)
  }
})

test('its version is that of the package', async () => {
  expect(await svcAt('/', ['--version'])).toEqual({ code: 0, out: '0.9.0\n', err: '' })
})
