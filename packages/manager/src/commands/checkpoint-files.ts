// Checkpoints that were kept outside of the database, as operators have them: logs, or copies of a bucket.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Checkpoint } from '../platform/audit/checkpoint.ts'
import type { Terminal } from './terminal.ts'

/** The checkpoints in a file, or in the files of a folder: lines of a log, or bare ones; throws when there is none. */
export async function readCheckpointFiles(path: string, terminal: Terminal): Promise<Checkpoint[]> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .toSorted()
        .map((name) => join(path, name))
        .filter((file) => statSync(file).isFile())
    : [path]
  const found: Checkpoint[] = []
  for (const file of files) found.push(...(await readOne(file, terminal)))
  if (found.length === 0) throw new Error(`there is no checkpoint in ${path}: nothing can be compared`)
  return found
}

async function readOne(file: string, terminal: Terminal): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  let broken = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.includes('"checkpoint"') && !line.includes('"prevHash"')) continue
    try {
      const object = JSON.parse(line) as { checkpoint?: unknown }
      const checkpoint = object.checkpoint ?? object
      if (isCheckpoint(checkpoint)) checkpoints.push(checkpoint)
    } catch {
      broken++
    }
  }
  if (broken > 0) terminal.warn(`${broken} line(s) of ${file} cannot be read and are left out`)
  return checkpoints
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const { seq, heads, hash, signature } = value as Partial<Checkpoint>
  return (
    typeof seq === 'number' &&
    Array.isArray(heads) &&
    typeof hash === 'string' &&
    typeof signature === 'string'
  )
}
