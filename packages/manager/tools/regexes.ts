// Checks every regular expression in the sources and fails if one can take more than linear time: input from a caller
// must not block the process. Tests and tools are excluded, because they process no input from callers.
//   node tools/regexes.ts [folder]
import { globSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CallExpression, type NewExpression, Visitor, parseSync } from 'oxc-parser'
import { check } from 'recheck'

type Regex = { pattern: string; flags: string; locations: string[] }
type Site = { file: string; line: number }
/** Maps allowed regular expressions, as written in the source, to the reason: the length limit of their input. */
export type Exceptions = Record<string, string>

// The limits count steps instead of time, so that results do not depend on the load of the machine.
const options = {
  randomSeed: 1,
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
}
const exceptions: Exceptions = {}

/** Returns one line per problem, or an empty list if every regular expression below the folder is linear. */
export async function findProblems(folder: string, allowed: Exceptions = exceptions): Promise<string[]> {
  const { regexes, problems } = await findRegexes(folder)
  const used = new Set<string>()
  for (const { pattern, flags, locations } of regexes) {
    const source = `/${pattern}/${flags}`
    // The checker does not support the flag d, which changes the reported match but not the matching itself.
    const verdict = await check(pattern, flags.replace('d', ''), options)
    if (verdict.status === 'safe') continue
    const found = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.error.kind
    const reason = Object.hasOwn(allowed, source) ? (allowed[source] ?? '') : null
    if (reason !== null) used.add(source)
    if (reason === null) problems.push(`${locations.join(', ')}: ${source} is not linear: ${found}`)
    else if (reason.trim().length < 20) problems.push(`the exception for ${source} gives no reason`)
  }
  for (const source of Object.keys(allowed))
    if (!used.has(source)) problems.push(`the exception for ${source} is no longer needed`)
  return problems
}

const isTest = (path: string): boolean => /\.test\.ts$|^packages\/(?:faults|harness)\//.test(path)

async function findRegexes(folder: string): Promise<{ regexes: Regex[]; problems: string[] }> {
  const regexes = new Map<string, Regex>()
  const add = (pattern: string, flags: string, { file, line }: Site): void => {
    const key = `/${pattern}/${flags}`
    const known = regexes.get(key) ?? { pattern, flags, locations: [] }
    known.locations.push(`${relative(folder, file)}:${line}`)
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
        problems.push(`${relative(folder, file)}:${line}: a regular expression is built at run time`)
    }
  }
  return { regexes: [...regexes.values()], problems }
}

/** Adds the regular expression literals of a file. Returns the positions of its RegExp calls. */
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

/** Loads a module and returns the regular expressions that it creates while loading. */
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
