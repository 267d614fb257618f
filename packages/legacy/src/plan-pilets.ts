// Pilets keep their bytes and lose their signature. An operator signs them after the import (manager pilet-keys sign).
import { createHash } from 'node:crypto'
import { isExactVersion, isPackageName, precedenceOf, specOf, storedTypeOf } from '@manager/manager/rules'
import { keptId } from './ids.ts'
import { createdAt } from './plan-projects.ts'
import type { Project } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldPilet } from './rows.ts'
import { type Step, keptAside, creationEvent, merged, moved } from './steps.ts'
import { fitText } from './texts.ts'

const maxDescriptionLength = 1_000

/** Rows of one version are adjacent, the oldest first. Only one row at a time is in memory. */
export async function* planPilets(
  project: Project,
  rows: AsyncIterable<OldPilet>,
  maxBytes: number,
): AsyncGenerator<Step, void, void> {
  let last: { name: string; version: string; hash: string; id: string } | null = null
  for await (const row of rows) {
    const hash = row.content === null ? null : createHash('sha256').update(row.content).digest('hex')
    const problem = problemOf(row, hash, maxBytes)
    if (problem !== null || row.content === null || hash === null) {
      yield keptAside('pilets', row.id, 'pilet-refused', { problem, ...remainsOf(row) })
      continue
    }
    const [name, version] = [row.name ?? '', row.version ?? '']
    if (last !== null && last.name === name && last.version === version) {
      yield last.hash === hash
        ? merged('pilets', row.id, last.id, { rules: ['same-bytes'] })
        : keptAside('pilets', row.id, 'version-taken', remainsOf(row))
      continue
    }
    const step = planOne(project, row, { name, version, hash, bytes: row.content })
    last = { name, version, hash, id: step.newId ?? '' }
    yield step
  }
}

function problemOf(row: OldPilet, hash: string | null, maxBytes: number): string | null {
  if (!isPackageName(row.name ?? '')) return 'its name is not a valid npm package name'
  if (!isExactVersion(row.version ?? '')) return 'its version is not strict SemVer'
  if (row.size === 0) return 'it has no bytes'
  if (row.size > maxBytes || hash === null) return `it has more than ${maxBytes} bytes`
  if (row.hash !== null && row.hash.toLowerCase() !== hash) return 'its bytes do not match its hash'
  return null
}

type Bundle = { name: string; version: string; hash: string; bytes: Buffer }

function planOne(project: Project, row: OldPilet, { name, version, hash, bytes }: Bundle): Step {
  const id = keptId('pilets', row.id)
  const description = fitText(row.description, maxDescriptionLength)
  const { precedence, isStable } = precedenceOf(version)
  const isEnabled = row.enabled === true
  return moved('pilets', row.id, id, {
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
          content_type: storedTypeOf(row.content_type ?? '', ''),
          size: bytes.length,
          hash,
          spec: specOf(bytes),
          enabled: isEnabled,
          ...createdAt(row),
        },
      },
    ],
    events: [
      creationEvent(
        'piletPackage',
        { projectId: project.id, id, name: `${name} ${version}` },
        { name, version, description, size: bytes.length, hash, enabled: isEnabled },
        { oldId: row.id },
      ),
    ],
    blob: { sha256: hash, bytes },
  })
}
