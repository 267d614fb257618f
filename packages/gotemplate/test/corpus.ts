// The corpus: templates with their data and what Go makes of them, one file per topic.
import { readFileSync, readdirSync } from 'node:fs'
import { type Case } from './oracle/oracle.ts'

interface CorpusCase extends Case {
  readonly output: string
  readonly phase?: 'parse' | 'exec'
}

/** What stands in a file holds for all its cases, unless a case says otherwise. */
export interface CorpusFile extends Omit<Case, 'template'> {
  readonly topic: string
  readonly cases: readonly CorpusCase[]
}

export const corpusDirectory = new URL('corpus', import.meta.url).pathname

/** A case with what its file says for all. */
export function caseOf(file: CorpusFile, entry: Case): Case {
  const { data, builtins, functions, missingKey, time } = file
  return { data, builtins, functions, missingKey, time, ...entry }
}

/** All files of the corpus. */
export function readCorpus(): CorpusFile[] {
  return readdirSync(corpusDirectory).map(
    (name) => JSON.parse(readFileSync(`${corpusDirectory}/${name}`, 'utf8')) as CorpusFile,
  )
}
