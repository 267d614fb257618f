// Checks import directions that lint cannot see: between packages, and between the top folders of each package's src/.
// Type imports count too. Lint rejects import cycles between files (import/no-cycle).
//   node tools/imports.ts [root]
import { resolve } from 'node:path'
import { type Import, readImports } from './import-graph.ts'

/**
 * Packages that the sources of a package may import. They may be imported only by the names that their manifests
 * export.
 */
const allowed: Record<string, readonly string[]> = {
  cli: ['client'],
  client: [],
  examples: ['client'],
  faults: ['harness', 'manager'],
  gotemplate: [],
  docs: ['harness'],
  harness: [],
  legacy: ['manager'],
  manager: ['gotemplate'],
}
/** Tests, tools and benchmarks may also import these packages, and the test kit of the Manager by its path. */
const allowedInTests = ['client', 'harness']
const testKit = /^packages\/manager\/(?:test\/kit|tools)\//

/**
 * Known imports that close a cycle between top folders, as `file -> folder`. The list must only shrink: a cycle that is
 * not listed is a problem, and so is an entry that no longer closes a cycle.
 */
const knownCycles: Record<string, readonly string[]> = {
  manager: [
    // The generator writes these type imports for row types and the guard.
    'generated/graphql.ts -> features',
    'generated/graphql.ts -> policy',
  ],
}

const packageOf = (file: string): string => /^packages\/([^/]+)\//.exec(file)?.[1] ?? 'examples'
const isTest = (file: string): boolean => !/^packages\/[^/]+\/src\//.test(file) || file.endsWith('.test.ts')

/** Returns one line per problem. */
export function findProblems(
  root: string,
  known: Readonly<Record<string, readonly string[]>> = knownCycles,
): string[] {
  const { imports, unexported } = readImports(root)
  const problems = [...unexported, ...imports.flatMap(problemOfPackages)]
  const inSources = imports.filter(({ from, to }) => packageOf(from) === packageOf(to) && !isTest(from))
  for (const [name, own] of Map.groupBy(inSources, ({ from }) => packageOf(from)))
    problems.push(...problemsOfFolders(name, own, known[name] ?? []))
  return problems
}

function problemOfPackages({ from, to, byName }: Import): string[] {
  const [own, other] = [packageOf(from), packageOf(to)]
  if (own === other || (isTest(from) && testKit.test(to))) return []
  const may = [...(allowed[own] ?? []), ...(isTest(from) ? allowedInTests : [])]
  if (!may.includes(other)) return [`${from} imports ${to}: ${own} may not import ${other}`]
  return byName || own === 'examples'
    ? []
    : [`${from} imports ${to} by path; import it through the exports of ${other}`]
}

type Edge = { from: string; to: string; file: string }

/** Returns the top folder below src/, or the name of a file directly in src/. */
const unitOf = (file: string): string => file.split('/')[3] ?? ''
const nameOf = ({ file, to }: Edge): string => `${file} -> ${to}`

function problemsOfFolders(name: string, imports: readonly Import[], known: readonly string[]): string[] {
  const edges = imports.map(({ from, to }): Edge => ({
    from: unitOf(from),
    to: unitOf(to),
    file: from.split('/').slice(3).join('/'),
  }))
  const others = edges.filter((edge) => edge.from !== edge.to)
  const unknown = edgesInCycles(others.filter((edge) => !known.includes(nameOf(edge))))
  const circular = new Set(edgesInCycles(others).map(nameOf))
  return [
    ...[...new Set(unknown.map(nameOf))].map(
      (edge) => `packages/${name}/src: ${edge} is part of an import cycle between top folders`,
    ),
    ...known
      .filter((edge) => !circular.has(edge))
      .map((edge) => `${edge} no longer closes a cycle; remove it from tools/imports.ts`),
  ]
}

/** Returns the edges that are part of a cycle: there is a path from their end back to their start. */
function edgesInCycles(edges: readonly Edge[]): Edge[] {
  const next = Map.groupBy(edges, ({ from }) => from)
  const reachable = new Map<string, Set<string>>()
  const reach = (start: string): Set<string> => {
    const found = reachable.get(start) ?? new Set<string>()
    if (reachable.has(start)) return found
    reachable.set(start, found)
    const waiting = [start]
    for (let unit = waiting.pop(); unit !== undefined; unit = waiting.pop())
      for (const { to } of next.get(unit) ?? [])
        if (!found.has(to)) {
          found.add(to)
          waiting.push(to)
        }
    return found
  }
  return edges.filter(({ from, to }) => reach(to).has(from))
}

if (import.meta.main) {
  const root = resolve(process.argv[2] ?? new URL('../../../', import.meta.url).pathname)
  const problems = findProblems(root)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
}
