// One word per idea (docs/reference/glossary.md). These were given up for another one; where one comes back, the check fails.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What is not written, and what is written instead. */
export const replaced: readonly [RegExp, string][] = [
  [/fresh[- ]?memory/i, 'versioned cache'],
  [
    /prepared[-_ ]?(?:answer|json|bytes|counter|response|header)|svc_prepared|prepared\.max|sendPrepared/i,
    'cached, encoded',
  ],
  [
    /create(?:d)?batched|batchedRow|BatchedOptions|db\/batched|graphql\/batch\./i,
    'coalesced (across requests), loader (within one)',
  ],
  [/\bheed(?:s|ed|ing)?\b/i, 'clear, notice'],
  [/held[-_ ]?bytes/i, 'buffered bytes, byte budget'],
  [/shown(?:Text|List|Length|Errors)|shown-errors|audit\/shown/, 'abbreviate, error messages'],
  [/takeTurn|turnOf\b/, 'yieldToEventLoop, nextSlot'],
  [/writeSoon|writeAsyncCommit/, 'asynchronous commit'],
  [/\breachIn\b|\bReach\b|policy\/reach/, 'visible rows'],
  [/\bHoldings?\b|holdingIn|loadHoldings/, 'roles in a project'],
  [/hold(?:s)?(?:Credential|Permission|Administrator|MasterKey)|policy\/hold\b/, 'recheck, lock'],
  [/describeGrant|grantApplicationRole|db\/grants/, 'requirement, privileges'],
  [
    /databaseApplicationRole|application_role\b(?=.*(?:database|setting))|DATABASE_APPLICATION_ROLE/,
    'service role',
  ],
  [/CredentialParts|credentials\/parts/, 'credentials'],
  [/secret\.print\b/, 'fingerprint'],
  [/\bunderway\b|calls-underway/i, 'in flight'],
  [
    /BrokenOff|\bCallerGone\b|broke (?:his|its|their) \w+ off/,
    'aborted, disconnected, closed the connection',
  ],
  [/PeriodicJob|startPeriodic|platform\/periodic/, 'schedule'],
  [/(?<!\})\b(?:he|him|his|himself)\b/i, 'they'],
]

// The check itself, what others generate, and texts that are data.
const unread =
  /^(?:package-lock\.json|packages\/manager\/(?:tools|test)\/words[.a-z]*|packages\/gotemplate\/test\/|.*\.(?:pem|ico))/

/** Every line with a word that was replaced, with what to write instead. */
export const findReplaced = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      replaced
        .filter(([form]) => form.test(line))
        .map(([form, instead]) => `${file}:${index + 1}: ${form.exec(line)?.[0]}: write ${instead}`),
    )

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files', '-z']).toString().split('\0').filter(Boolean)
  const found = files.flatMap((file) =>
    unread.test(file)
      ? []
      : [...findReplaced('the name of a file', file), ...findReplaced(file, readFileSync(file, 'utf8'))],
  )
  for (const line of found) process.stderr.write(`${line}\n`)
  if (found.length > 0) process.exitCode = 1
}
