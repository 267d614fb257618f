// Finds every regular expression of the sources and fails when one can take more than linear time for some text: a text
// of a caller must not stop the process. Tests and tools are left out; they meet no text of callers.
//   node tools/regexes.ts [folder]
import { globSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CallExpression, type NewExpression, Visitor, parseSync } from 'oxc-parser'
import { check } from 'recheck'

type Regex = { pattern: string; flags: string; places: string[] }
type Site = { file: string; line: number }
/** A regular expression as written in the source, and why it may stay: what bounds the text it meets. */
export type Exceptions = Record<string, string>

// Limits by steps alone, none by time: a busy machine must not change a verdict.
const options = {
  randomSeed: 1,
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
}
const exceptions: Exceptions = {}

/** What is wrong, a line each; nothing when every regular expression below the folder is linear. */
export async function findProblems(folder: string, allowed: Exceptions = exceptions): Promise<string[]> {
  const { regexes, problems } = await findRegexes(folder)
  const used = new Set<string>()
  for (const { pattern, flags, places } of regexes) {
    const source = `/${pattern}/${flags}`
    // The checker does not know the flag d, which changes what is reported of a match and not how it is found.
    const verdict = await check(pattern, flags.replace('d', ''), options)
    if (verdict.status === 'safe') continue
    const found = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.error.kind
    const reason = Object.hasOwn(allowed, source) ? (allowed[source] ?? '') : null
    if (reason !== null) used.add(source)
    if (reason === null) problems.push(`${places.join(', ')}: ${source} is not linear: ${found}`)
    else if (reason.trim().length < 20)
      problems.push(`the exception for ${source} does not say why it may stay`)
  }
  for (const source of Object.keys(allowed))
    if (!used.has(source)) problems.push(`the exception for ${source} is needed no more`)
  return problems
}

const isTest = (path: string): boolean => /\.test\.ts$|^packages\/(?:faults|harness)\//.test(path)

async function findRegexes(folder: string): Promise<{ regexes: Regex[]; problems: string[] }> {
  const regexes = new Map<string, Regex>()
  const add = (pattern: string, flags: string, { file, line }: Site): void => {
    const key = `/${pattern}/${flags}`
    const known = regexes.get(key) ?? { pattern, flags, places: [] }
    known.places.push(`${relative(folder, file)}:${line}`)
    regexes.set(key, known)
  }
  const sites: Site[] = []
  const files = globSync('{packages/*/src,src}/**/*.ts', { cwd: folder })
  for (const file of files.filter((path) => !isTest(path)).toSorted())
    sites.push(...readFile(resolve(folder, file), add))
  const problems: string[] = []
  for (const [file, made] of Map.groupBy(sites, (site) => site.file)) {
    const composed = await composedIn(file)
    for (const { line } of made) {
      const here = composed.filter((one) => one.line === line)
      for (const { pattern, flags } of here) add(pattern, flags, { file, line })
      if (here.length === 0)
        problems.push(
          `${relative(folder, file)}:${line}: a regular expression is made while the service runs`,
        )
    }
  }
  return { regexes: [...regexes.values()], problems }
}

/** Adds the literals of a file; returns where it calls RegExp. */
function readFile(file: string, add: (pattern: string, flags: string, site: Site) => void): Site[] {
  const text = readFileSync(file, 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`)
  const sites: Site[] = []
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length
  const call = ({ callee, start }: NewExpression | CallExpression): void => {
    if (callee.type === 'Identifier' && callee.name === 'RegExp') sites.push({ file, line: lineOf(start) })
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) add(node.regex.pattern, node.regex.flags, { file, line: lineOf(node.start) })
    },
    NewExpression: call,
    CallExpression: call,
  }).visit(program)
  return sites
}

/** The regular expressions that a module composes while it is loaded, as they come out. */
async function composedIn(file: string): Promise<{ line: number; pattern: string; flags: string }[]> {
  const url = pathToFileURL(file).href
  const made: { line: number; pattern: string; flags: string }[] = []
  const record = (target: RegExpConstructor, args: [string, string?]): RegExp => {
    const regex = new target(...args)
    const line = new Error('here').stack?.split('\n').find((frame) => frame.includes(`${url}:`))
    const at = Number(line?.slice(line.indexOf(`${url}:`) + url.length + 1).split(':', 1)[0])
    made.push({ line: at, pattern: regex.source, flags: regex.flags })
    return regex
  }
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args: [string, string?]) => record(target, args),
    apply: (target, _self, args: [string, string?]) => record(target, args),
  })
  try {
    await import(url)
  } finally {
    globalThis.RegExp = original
  }
  return made
}

if (import.meta.main) {
  const problems = await findProblems(resolve(process.argv[2] ?? '.'))
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
