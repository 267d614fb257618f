// Pilets keep their content and lose their signature. An operator signs them after the import (manager
// pilet-keys sign).
import { createHash } from 'node:crypto'
import {
  isExactVersion,
  isPackageName,
  computePrecedence,
  detectSpec,
  getStoredType,
} from '@manager/manager/rules'
import { toNewId } from './ids.ts'
import { pickCreatedAt } from './plan-projects.ts'
import type { Project } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldPilet } from './rows.ts'
import {
  type Step,
  createSkippedStep,
  createCreationEvent,
  createMergedStep,
  createMovedStep,
} from './steps.ts'
import { fitText } from './texts.ts'

const maxDescriptionLength = 1_000

/** Plans the pilets. Rows with the same version are adjacent, oldest first. Only one row at a time is in memory. */
export async function* planPilets(
  project: Project,
  rows: AsyncIterable<OldPilet>,
  maxBytes: number,
): AsyncGenerator<Step, void, void> {
  let previousPilet: { name: string; version: string; hash: string; id: string } | null = null
  for await (const row of rows) {
    const hash = row.content === null ? null : createHash('sha256').update(row.content).digest('hex')
    const problem = findProblem(row, hash, maxBytes)
    if (problem !== null || row.content === null || hash === null) {
      yield createSkippedStep('pilets', row.id, 'pilet-refused', { problem, ...getRemainder(row) })
      continue
    }
    const [name, version] = [row.name ?? '', row.version ?? '']
    if (previousPilet !== null && previousPilet.name === name && previousPilet.version === version) {
      yield previousPilet.hash === hash
        ? createMergedStep('pilets', row.id, previousPilet.id, { rules: ['same-bytes'] })
        : createSkippedStep('pilets', row.id, 'version-taken', getRemainder(row))
      continue
    }
    const step = planPilet(project, row, { name, version, hash, bytes: row.content })
    previousPilet = { name, version, hash, id: step.newId ?? '' }
    yield step
  }
}

function findProblem(row: OldPilet, hash: string | null, maxBytes: number): string | null {
  if (!isPackageName(row.name ?? '')) return 'the name is not a valid npm package name'
  if (!isExactVersion(row.version ?? '')) return 'the version is not strict SemVer'
  if (row.size === 0) return 'the content is empty'
  if (row.size > maxBytes || hash === null) return `the content is larger than ${maxBytes} bytes`
  if (row.hash !== null && row.hash.toLowerCase() !== hash) return 'the content does not match the hash'
  return null
}

type Bundle = { name: string; version: string; hash: string; bytes: Buffer }

function planPilet(project: Project, row: OldPilet, { name, version, hash, bytes }: Bundle): Step {
  const id = toNewId('pilets', row.id)
  const description = fitText(row.description, maxDescriptionLength)
  const { precedence, isStable } = computePrecedence(version)
  const isEnabled = row.enabled === true
  return createMovedStep('pilets', row.id, id, {
    rules: description === (row.description ?? '') ? [] : ['name-fitted'],
    rows: [
      {
        table: 'pilet_packages',
        values: {
          id,
          project_id: project.id,
          name,
          version,
          precedence,
          is_stable: isStable,
          description,
          content_type: getStoredType(row.content_type ?? '', ''),
          size: bytes.length,
          hash,
          spec: detectSpec(bytes),
          enabled: isEnabled,
          ...pickCreatedAt(row),
        },
      },
    ],
    events: [
      createCreationEvent(
        'piletPackage',
        { projectId: project.id, id, name: `${name} ${version}` },
        { name, version, description, size: bytes.length, hash, enabled: isEnabled },
        { oldId: row.id },
      ),
    ],
    blob: { sha256: hash, bytes },
  })
}
