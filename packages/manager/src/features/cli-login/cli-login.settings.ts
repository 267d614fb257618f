// These settings limit how often terminals poll and how long their tokens are valid.
import { type Reader, integer, defineSetting } from '../../config/readers.ts'
import { defineThrottleTime } from '../../config/throttle-settings.ts'

const perMinute: Reader<number> = integer(1, 1_000_000)

export const cliLoginSettings = {
  cliTokenDays: defineSetting(integer(1, 3_650), {
    key: 'cli_login.token_days',
    env: 'SVC_CLI_LOGIN_TOKEN_DAYS',
    default: 90,
    doc: 'Lifetime, in days, of a personal access token that a terminal receives.',
  }),
  cliStartsPerClient: defineSetting(perMinute, {
    key: 'cli_login.starts_per_client',
    env: 'SVC_CLI_LOGIN_STARTS_PER_CLIENT',
    optional: true,
    isRetired: true,
    doc: 'Has no effect: the number of started logins is no longer limited.',
  }),
  cliPollsPerClient: defineSetting(perMinute, {
    key: 'cli_login.polls_per_client',
    env: 'SVC_CLI_LOGIN_POLLS_PER_CLIENT',
    default: 120,
    doc: 'Maximum number of polls per minute from one client, across all logins.',
  }),
  cliPollsPerLogin: defineSetting(perMinute, {
    key: 'cli_login.polls_per_login',
    env: 'SVC_CLI_LOGIN_POLLS_PER_LOGIN',
    default: 30,
    doc: 'Maximum number of polls per minute for one login.',
  }),
  codeThrottleFailures: defineSetting(integer(1, 100_000), {
    key: 'throttles.code.failures',
    env: 'SVC_THROTTLES_CODE_FAILURES',
    default: 10,
    doc: 'Number of wrong codes on `/cli/authorize` after which all codes of the user return 404 until the window ends.',
  }),
  codeThrottleWindowMs: defineThrottleTime(
    'code.window_ms',
    900_000,
    'Length of the window in which wrong codes are counted. It starts at the first wrong code.',
  ),
  codeThrottleBlockMs: defineSetting(integer(100, 86_400_000), {
    key: 'throttles.code.block_ms',
    env: 'SVC_THROTTLES_CODE_BLOCK_MS',
    optional: true,
    isRetired: true,
    doc: 'Has no effect: a block ends with its window.',
  }),
} as const
