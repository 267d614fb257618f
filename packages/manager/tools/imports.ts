// Checks import directions that lint cannot check: between packages, and between the top folders of each package's src/.
// Type imports count too. Lint rejects import cycles between files (import/no-cycle).
//   node tools/imports.ts [root]
import { resolve } from 'node:path'
import { type Import, readImports } from './import-graph.ts'

/**
 * Packages that the sources of a package may import. They may be imported only by the names that their manifests
 * export.
 */
const allowedPackages: Record<string, readonly string[]> = {
  cli: ['client'],
  client: [],
  console: ['client'],
  examples: ['client'],
  faults: ['harness', 'manager'],
  gotemplate: [],
  docs: ['harness'],
  harness: [],
  legacy: ['manager'],
  manager: ['gotemplate'],
}
/**
 * Additional packages that tests, tools and benchmarks may import. They may import the Manager's test kit and policy matrix by path.
 */
const allowedInTests = ['client', 'harness']
const testKit = /^packages\/manager\/(?:test\/(?:kit|policy)|tools)\//

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

const getPackage = (file: string): string => /^packages\/([^/]+)\//.exec(file)?.[1] ?? 'examples'
const isTest = (file: string): boolean => !/^packages\/[^/]+\/src\//.test(file) || file.endsWith('.test.ts')

/** Returns one line per problem. */
export function findProblems(
  root: string,
  allowedCycles: Readonly<Record<string, readonly string[]>> = knownCycles,
): string[] {
  const { imports, unexportedNames } = readImports(root)
  const problems = [...unexportedNames, ...imports.flatMap(findPackageProblems)]
  const sourceImports = imports.filter(({ from, to }) => getPackage(from) === getPackage(to) && !isTest(from))
  for (const [name, ownImports] of Map.groupBy(sourceImports, ({ from }) => getPackage(from)))
    problems.push(...findFolderProblems(name, ownImports, allowedCycles[name] ?? []))
  return problems
}

function findPackageProblems({ from, to, usesPackageName }: Import): string[] {
  const [ownPackage, importedPackage] = [getPackage(from), getPackage(to)]
  if (ownPackage === importedPackage || (isTest(from) && testKit.test(to))) return []
  const allowedNames = [...(allowedPackages[ownPackage] ?? []), ...(isTest(from) ? allowedInTests : [])]
  if (!allowedNames.includes(importedPackage))
    return [`${from} imports ${to}: ${ownPackage} may not import ${importedPackage}`]
  return usesPackageName || ownPackage === 'examples'
    ? []
    : [`${from} imports ${to} by path; import it through the exports of ${importedPackage}`]
}

type Edge = { from: string; to: string; file: string }

/** Returns the top folder below src/, or the name of a file directly in src/. */
const getUnit = (file: string): string => file.split('/')[3] ?? ''
const formatEdge = ({ file, to }: Edge): string => `${file} -> ${to}`

function findFolderProblems(
  name: string,
  imports: readonly Import[],
  allowedEdges: readonly string[],
): string[] {
  const edges = imports.map(({ from, to }): Edge => ({
    from: getUnit(from),
    to: getUnit(to),
    file: from.split('/').slice(3).join('/'),
  }))
  const crossEdges = edges.filter((edge) => edge.from !== edge.to)
  const newCyclicEdges = findCyclicEdges(
    crossEdges.filter((edge) => !allowedEdges.includes(formatEdge(edge))),
  )
  const cyclicEdgeNames = new Set(findCyclicEdges(crossEdges).map(formatEdge))
  return [
    ...[...new Set(newCyclicEdges.map(formatEdge))].map(
      (edge) => `packages/${name}/src: ${edge} is part of an import cycle between top folders`,
    ),
    ...allowedEdges
      .filter((edge) => !cyclicEdgeNames.has(edge))
      .map((edge) => `${edge} no longer closes a cycle; remove it from tools/imports.ts`),
  ]
}

/** Returns the edges that are part of a cycle: there is a path from their end back to their start. */
function findCyclicEdges(edges: readonly Edge[]): Edge[] {
  const edgesByStart = Map.groupBy(edges, ({ from }) => from)
  const reachableUnits = new Map<string, Set<string>>()
  const findReachable = (start: string): Set<string> => {
    const units = reachableUnits.get(start) ?? new Set<string>()
    if (reachableUnits.has(start)) return units
    reachableUnits.set(start, units)
    const queue = [start]
    for (let unit = queue.pop(); unit !== undefined; unit = queue.pop())
      for (const { to } of edgesByStart.get(unit) ?? [])
        if (!units.has(to)) {
          units.add(to)
          queue.push(to)
        }
    return units
  }
  return edges.filter(({ from, to }) => findReachable(to).has(from))
}

if (import.meta.main) {
  const root = resolve(process.argv[2] ?? new URL('../../../', import.meta.url).pathname)
  const problems = findProblems(root)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
}
