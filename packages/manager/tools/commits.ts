// Checks the messages of new commits. They must be conventional and imperative, with at most 72 characters in the first
// line.
import { execFileSync } from 'node:child_process'
import conventional from '@commitlint/config-conventional'
import lint from '@commitlint/lint'

/** The rules are newer than this commit, so neither the commit nor its ancestors are checked. */
const lastUncheckedCommit = '33d3305804c13c811fe140128fa07cc7228a5b43'

/** Matches a first word that is not imperative, such as "adds", "fixed" or "moving". */
const nonImperativePattern =
  /^(?!(?:alias|bring|bypass|embed|exceed|feed|focus|need|ping|proceed|seed|shed|speed|string|succeed)\b)[a-z]+(?:ed|ing|[^s]s)\b/

/** Matches the type, the scope, an exclamation mark for a breaking change, and the subject. */
const parserOpts = { headerPattern: /^(\w+)(?:\(([^()]+)\))?!?: (.*)$/ }

/** Returns the problems with one message, each as a sentence. */
export async function findProblems(message: string): Promise<string[]> {
  const rules = {
    ...conventional.rules,
    'header-max-length': [2, 'always', 72],
    // Bodies contain addresses and commands, which cannot be wrapped.
    'body-max-line-length': [0],
    'footer-max-line-length': [0],
  } as const
  const { errors } = await lint(message.replace(/ \(#\d+\)$/m, ''), rules, { parserOpts })
  const subject = /^[^:]*: (.*)$/m.exec(message)?.[1] ?? ''
  const problems = errors.map(({ message: text }) => text)
  return nonImperativePattern.test(subject)
    ? [...problems, 'subject must be imperative: "add", not "adds"']
    : problems
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' })

/**
 * Returns the hashes of the commits to check. A shallow clone does not contain `lastUncheckedCommit`, so only
 * HEAD is checked there.
 */
function listNewCommits(): string[] {
  try {
    return git('rev-list', '--no-merges', `${lastUncheckedCommit}..HEAD`).split('\n').filter(Boolean)
  } catch {
    return [git('rev-parse', 'HEAD').trim()]
  }
}

if (import.meta.main) {
  for (const hash of listNewCommits()) {
    const message = git('log', '-1', '--format=%B', hash)
    for (const problem of await findProblems(message)) {
      process.stderr.write(`${hash.slice(0, 7)} "${message.split('\n')[0]}": ${problem}\n`)
      process.exitCode = 1
    }
  }
}
