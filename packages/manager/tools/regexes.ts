// Checks every regular expression in the sources and fails if one can take more than linear time, because input
// from a caller must not block the process. Tests and tools are excluded, because they process no input from callers.
//   node tools/regexes.ts [folder]
import { globSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CallExpression, type NewExpression, Visitor, parseSync } from 'oxc-parser'
import { check } from 'recheck'

type Regex = { pattern: string; flags: string; locations: string[] }
type Site = { file: string; line: number }
/**
 * Maps allowed regular expressions, as written in the source, to the maximum length of their input, which is the
 * reason for the exception.
 */
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
export async function findProblems(
  folder: string,
  allowedExceptions: Exceptions = exceptions,
): Promise<string[]> {
  const { regexes, problems } = await findRegexes(folder)
  const usedExceptions = new Set<string>()
  for (const { pattern, flags, locations } of regexes) {
    const source = `/${pattern}/${flags}`
    // The checker does not support the flag d, which changes the reported match but not the matching itself.
    const verdict = await check(pattern, flags.replace('d', ''), options)
    if (verdict.status === 'safe') continue
    const finding = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.error.kind
    const reason = Object.hasOwn(allowedExceptions, source) ? (allowedExceptions[source] ?? '') : null
    if (reason !== null) usedExceptions.add(source)
    if (reason === null)
      problems.push(`${locations.join(', ')}: ${source} does not run in linear time: ${finding}`)
    else if (reason.trim().length < 20) problems.push(`the exception for ${source} gives no reason`)
  }
  for (const source of Object.keys(allowedExceptions))
    if (!usedExceptions.has(source)) problems.push(`the exception for ${source} is no longer needed`)
  return problems
}

const isTest = (path: string): boolean => /\.test\.ts$|^packages\/(?:faults|harness)\//.test(path)

async function findRegexes(folder: string): Promise<{ regexes: Regex[]; problems: string[] }> {
  const regexes = new Map<string, Regex>()
  const addRegex = (pattern: string, flags: string, { file, line }: Site): void => {
    const key = `/${pattern}/${flags}`
    const regexUses = regexes.get(key) ?? { pattern, flags, locations: [] }
    regexUses.locations.push(`${relative(folder, file)}:${line}`)
    regexes.set(key, regexUses)
  }
  const sites: Site[] = []
  const files = globSync('{packages/*/src,src}/**/*.ts', { cwd: folder })
  for (const file of files.filter((path) => !isTest(path)).toSorted())
    sites.push(...readRegexes(resolve(folder, file), addRegex))
  const problems: string[] = []
  for (const [file, fileSites] of Map.groupBy(sites, (site) => site.file)) {
    const composedRegexes = await loadComposedRegexes(file)
    for (const { line } of fileSites) {
      const regexesOnLine = composedRegexes.filter((one) => one.line === line)
      for (const { pattern, flags } of regexesOnLine) addRegex(pattern, flags, { file, line })
      if (regexesOnLine.length === 0)
        problems.push(
          `${relative(folder, file)}:${line}: a regular expression is built at run time and cannot be checked`,
        )
    }
  }
  return { regexes: [...regexes.values()], problems }
}

/** Adds the regular expression literals of a file. Returns the positions of its RegExp calls. */
function readRegexes(file: string, addRegex: (pattern: string, flags: string, site: Site) => void): Site[] {
  const text = readFileSync(file, 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`cannot parse ${file}: ${errors[0]?.message}`)
  const sites: Site[] = []
  const getLine = (offset: number): number => text.slice(0, offset).split('\n').length
  const addCallSite = ({ callee, start }: NewExpression | CallExpression): void => {
    if (callee.type === 'Identifier' && callee.name === 'RegExp') sites.push({ file, line: getLine(start) })
  }
  new Visitor({
    Literal(node) {
      if ('regex' in node) addRegex(node.regex.pattern, node.regex.flags, { file, line: getLine(node.start) })
    },
    NewExpression: addCallSite,
    CallExpression: addCallSite,
  }).visit(program)
  return sites
}

/** Loads a module and returns the regular expressions that it creates while loading. */
async function loadComposedRegexes(
  file: string,
): Promise<{ line: number; pattern: string; flags: string }[]> {
  const url = pathToFileURL(file).href
  const createdRegexes: { line: number; pattern: string; flags: string }[] = []
  const record = (target: RegExpConstructor, args: [string, string?]): RegExp => {
    const regex = new target(...args)
    const line = new Error('here').stack?.split('\n').find((frame) => frame.includes(`${url}:`))
    const lineNumber = Number(line?.slice(line.indexOf(`${url}:`) + url.length + 1).split(':', 1)[0])
    createdRegexes.push({ line: lineNumber, pattern: regex.source, flags: regex.flags })
    return regex
  }
  const originalRegExp = globalThis.RegExp
  globalThis.RegExp = new Proxy(originalRegExp, {
    construct: (target, args: [string, string?]) => record(target, args),
    apply: (target, _self, args: [string, string?]) => record(target, args),
  })
  try {
    await import(url)
  } finally {
    globalThis.RegExp = originalRegExp
  }
  return createdRegexes
}

if (import.meta.main) {
  const problems = await findProblems(resolve(process.argv[2] ?? '.'))
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
