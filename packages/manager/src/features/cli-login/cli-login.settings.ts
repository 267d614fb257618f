// These settings limit how often terminals poll and how long their tokens are valid.
import { type Reader, integer, setting } from '../../config/readers.ts'
import { throttleTime } from '../../config/throttle-settings.ts'

const perMinute: Reader<number> = integer(1, 1_000_000)

export const cliLoginSettings = {
  cliTokenDays: setting(integer(1, 3_650), {
    key: 'cli_login.token_days',
    env: 'SVC_CLI_LOGIN_TOKEN_DAYS',
    default: 90,
    doc: 'Lifetime, in days, of a personal access token that a terminal receives.',
  }),
  cliStartsPerClient: setting(perMinute, {
    key: 'cli_login.starts_per_client',
    env: 'SVC_CLI_LOGIN_STARTS_PER_CLIENT',
    optional: true,
    retired: true,
    doc: 'Has no effect: starting a login is no longer limited.',
  }),
  cliPollsPerClient: setting(perMinute, {
    key: 'cli_login.polls_per_client',
    env: 'SVC_CLI_LOGIN_POLLS_PER_CLIENT',
    default: 120,
    doc: 'Maximum number of polls per minute of one client, for all logins together.',
  }),
  cliPollsPerLogin: setting(perMinute, {
    key: 'cli_login.polls_per_login',
    env: 'SVC_CLI_LOGIN_POLLS_PER_LOGIN',
    default: 30,
    doc: 'Maximum number of polls per minute for one login.',
  }),
  codeThrottleFailures: setting(integer(1, 100_000), {
    key: 'throttles.code.failures',
    env: 'SVC_THROTTLES_CODE_FAILURES',
    default: 10,
    doc: 'Wrong user codes on `/cli/authorize` after which every code of that user is unknown (404) until the window ends.',
  }),
  codeThrottleWindowMs: throttleTime(
    'code.window_ms',
    900_000,
    'Period in which those failures are counted, from the first failure on.',
  ),
  codeThrottleBlockMs: setting(integer(100, 86_400_000), {
    key: 'throttles.code.block_ms',
    env: 'SVC_THROTTLES_CODE_BLOCK_MS',
    optional: true,
    retired: true,
    doc: 'Has no effect: a block ends with its window.',
  }),
} as const
