// Formats `svc --help`. It names the commands by topic, because a list with descriptions would not fit one screen.
import { type Command, Help } from 'commander'
import { commandEntries, topics } from './command-list.ts'

export const helpWidth = 80
const indent = 11
/** Commands that program.ts adds. */
const programCommands = ['help', 'completion']

/** Formats the help of the program, or of a command. */
export function formatHelp(command: Command, help: Help): string {
  if (command.parent !== null) return Help.prototype.formatHelp.call(help, command, help)
  const topicLines = topics.flatMap((topic) => {
    const names = commandEntries.filter((entry) => entry.topic === topic).map((entry) => entry.names[0])
    return formatWords(topic, topic === 'Help' ? [...names, ...programCommands] : names)
  })
  const optionTerms = help.visibleOptions(command).map((option) => help.optionTerm(option).replace(', ', '|'))
  return [
    `Usage: ${help.commandUsage(command)}`,
    '',
    help.commandDescription(command),
    '',
    ...topicLines,
    '',
    ...formatWords('Options', optionTerms),
    '',
  ].join('\n')
}

/** Wraps words behind a heading. */
function formatWords(heading: string, words: readonly string[]): string[] {
  const lines: string[] = []
  let line = ''
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`
    if (line !== '' && indent + line.length + 1 + text.length > helpWidth) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? text : `${line} ${text}`
  }
  lines.push(line)
  return lines.map((text, index) => (index === 0 ? heading : '').padEnd(indent) + text)
}
