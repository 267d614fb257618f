// The texts of `svc help <topic>`: rules that concern several commands. Lines have at most 80 characters.

type Topic = { name: string; summary: string; text: string }

const topics: readonly Topic[] = [
  {
    name: 'scope',
    summary: 'how svc selects the project, the app and the environment',
    text: `
svc uses the first of these that names the project, the app or the environment:

  1. the options --project, --app and --environment
  2. the variables SVC_PROJECT, SVC_APP and SVC_ENVIRONMENT
  3. the link of the working folder, or of its nearest linked parent

  $ svc link --project shop --app web --environment dev
  $ svc triggers list

A link belongs to one installation and is ignored for others. Its app and its
environment apply only together with its project. The links are in your
configuration and not in the folder, so a repository cannot change them.

Before a command changes something, it prints what it uses and why:

  Using project shop (link of /home/ann/shop), app web (SVC_APP).
`,
  },
  {
    name: 'variables',
    summary: 'the environment variables that svc reads',
    text: `
  SVC_URL           the address of the Manager, usually that of its proxy
  SVC_PROFILE       the profile of the sign-in; the default is "default"
  SVC_TOKEN_FILE    a file with a token; takes precedence over the sign-in
  SVC_TOKEN         a token; a file is safer
  SVC_PROJECT       the project, unless --project is passed
  SVC_APP           the app, unless --app is passed
  SVC_ENVIRONMENT   the environment, unless --environment is passed
  XDG_CONFIG_HOME   the folder of the configuration; the default is ~/.config
  XDG_CACHE_HOME    the folder of the completion cache; the default is ~/.cache
  NO_COLOR          disables colors
  CI                prevents svc login from opening a browser
`,
  },
  {
    name: 'output',
    summary: 'tables, JSON, YAML, times, and repeated output',
    text: `
Results are on standard output; messages are on standard error.

  --output json     complete objects, for programs; the same as --json
  --output yaml     the same as YAML
  --utc             times in UTC, such as 2026-11-20 09:30:00 UTC
  --iso             times in RFC 3339 format, such as 2026-11-20T09:30:00.000Z
  --watch           repeats a list until you press Ctrl-C
  --interval 30     the seconds between two repetitions

On a terminal, tables show relative times such as "5 min ago", and long values
are cut to fit. JSON and YAML always contain the complete values. In a pipe,
tables are not cut, and times are in RFC 3339 format.
`,
  },
  {
    name: 'following',
    summary: 'how --follow reads new calls, runs and audit entries',
    text: `
--follow prints the newest rows, and then each new row once:

  $ svc calls list -p shop -a web --follow
  $ svc runs list nightly -p shop -a web --follow --json

A call or a run is printed when it ends. svc retries a lost connection, also
while the Manager restarts, and then prints the rows of the outage. Rows are in
the order of their times, except rows that the Manager records late.

A call that takes longer than 150 s, or a run that takes longer than an hour, is
printed without its end. With --json, each line is one JSON object.
`,
  },
  {
    name: 'exit-codes',
    summary: 'what the exit code of a command means',
    text: `
    0   done
    1   the Manager rejected the command, or the command failed
    2   wrong usage, or an invalid file
    3   not signed in, or a wrong credential; run: svc login
    4   not found, or not visible to you
    5   no connection; run: svc doctor
  130   interrupted by Ctrl-C
  143   ended by SIGTERM
`,
  },
  {
    name: 'secrets',
    summary: 'how svc reads and stores passwords and tokens',
    text: `
svc reads secrets from files and writes new secrets to files with mode 600. No
option contains a secret, because other users can see command lines:

  $ svc tokens create pipeline --token-file pipeline.token
  $ svc endpoints update orders --auth-password-file erp.password

The token of your sign-in is in ~/.config/svc/credentials.json. svc rejects this
file if other users can read it, and sends the token only to the address that
issued it. In a pipeline, set SVC_TOKEN_FILE.
`,
  },
]

export const topicNames: readonly string[] = [...topics.map(({ name }) => name), 'topics']

/** Returns the text of a topic, or null if the topic does not exist. */
export function findTopic(name: string): string | null {
  if (name === 'topics') return `Topics of svc help:\n\n${formatSummaries()}\n`
  const topic = topics.find((one) => one.name === name)
  return topic === undefined ? null : topic.text.replace(/^\n/, '')
}

const formatSummaries = (): string =>
  topics.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`).join('\n')
