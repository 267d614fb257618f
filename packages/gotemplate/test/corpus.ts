// The corpus contains templates, their data and the output that Go produces. There is one file per topic.
import { readFileSync, readdirSync } from 'node:fs'
import { type Case } from './oracle/oracle.ts'

interface CorpusCase extends Case {
  readonly output: string
  readonly phase?: 'parse' | 'exec'
}

/** A file in the corpus. Its fields are the defaults of its cases. */
export interface CorpusFile extends Omit<Case, 'template'> {
  readonly topic: string
  readonly cases: readonly CorpusCase[]
}

export const corpusDirectory = new URL('corpus', import.meta.url).pathname

/** Merges a case with the defaults of its file. */
export function caseOf(file: CorpusFile, entry: Case): Case {
  const { data, builtins, functions, missingKey, time } = file
  return { data, builtins, functions, missingKey, time, ...entry }
}

/** Returns all files of the corpus. */
export function readCorpus(): CorpusFile[] {
  return readdirSync(corpusDirectory).map(
    (name) => JSON.parse(readFileSync(`${corpusDirectory}/${name}`, 'utf8')) as CorpusFile,
  )
}
