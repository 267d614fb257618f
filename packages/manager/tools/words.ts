// The glossary (docs/reference/glossary.md) has one term per concept. This check fails if a replaced term is used
// again.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readSourceTexts } from './texts.ts'

/** Replaced terms, each with its replacement. */
export const replacedTerms: readonly [RegExp, string][] = [
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
  [
    /letTransactionsRepeat|keepConnectionsHonest|\bcreateLook\b|\bunsettle\b|\bleastMissed\b|\bgiveUpLate\b|\bworthASecond\b|\bgoOn\b/,
    'the verb that a Node engineer would search for: retry, inspect, resume, expire',
  ],
  [
    /\b(?:type|interface) Place\b|\b(?:Inbox|Feed|Comms|Key)Place\b|\bplaceKey\b/,
    'scope, slot, address, key',
  ],
  [
    /\b(?:createCoalesced|auditedEntity|maxPerVisit|createFindBy(?:Id|Slug))\b|labelledGauge|counterByFirstIds/,
    'createCoalescer, createEventBuilder, maxClaimedPerGroup, createIdFinder, createSlugFinder, labeledGauge, counterById',
  ],
]

/** Constructions that do not read as English. They are rejected in comments. */
export const constructions: readonly [RegExp, string][] = [
  [/\bformer\b/i, 'previous'],
  [/\b(?:is|are|was|were) away\b/i, 'is unreachable'],
  [/\bshall\b/i, 'must'],
  [/(?<!\bthere )\b(?:is|are) no\b(?! longer)/i, 'is not a'],
  [/(?:^|[.!?] )(?:What|Who|Of|Nobody|Somebody|Whoever)\b/, 'a noun as the subject'],
  [/(?:^|[.!?] )Pure[.:]/, 'a sentence that says why the code is pure'],
]

// Files that are not checked: the check itself, files that other tools generate, and text that is test data.
const excludedFiles =
  /^(?:package-lock\.json|packages\/manager\/(?:tools|test)\/words[.a-z]*|packages\/gotemplate\/test\/|.*\.(?:pem|ico|png))/

const isSource = (file: string): boolean => /\.(?:ts|mjs)$/.test(file) && !file.includes('/generated/')

/** Returns every use of a replaced term, with its line and its replacement. */
export const findReplacedTerms = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      replacedTerms
        .filter(([form]) => form.test(line))
        .map(([form, instead]) => `${file}:${index + 1}: ${form.exec(line)?.[0]}: write ${instead}`),
    )

/** Returns one problem for each rejected construction in the comments of a source file. */
export const findConstructions = (file: string, source: string): string[] =>
  readSourceTexts(file, source).comments.flatMap(({ line, text }) =>
    constructions
      .filter(([form]) => form.test(text))
      .map(([form, instead]) => `${file}:${line}: ${form.exec(text)?.[0].trim()}: write ${instead}`),
  )

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files', '-z']).toString().split('\0').filter(Boolean)
  const problems = files.flatMap((file) =>
    excludedFiles.test(file)
      ? []
      : [
          ...findReplacedTerms('the name of a file', file),
          ...findReplacedTerms(file, readFileSync(file, 'utf8')),
          ...(isSource(file) ? findConstructions(file, readFileSync(file, 'utf8')) : []),
        ],
  )
  for (const line of problems) process.stderr.write(`${line}\n`)
  if (problems.length > 0) process.exitCode = 1
}
