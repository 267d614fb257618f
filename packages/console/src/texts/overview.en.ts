// English texts for the start page and the overview.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const overview = {
  // projects
  'projects.title': 'Projects',
  'projects.clearFilter': 'Clear the filter',
  'projects.empty': 'No projects yet',
  'projects.emptyForCreator': 'Create a project to add tenants, applications and members to it.',
  'projects.emptyHint': 'Projects appear here when a maintainer adds you to one.',
  'projects.last': 'last opened',
  'projects.noMatch': 'No project matches',
  'projects.noMatchHint': (text: string) => `No project that you can open has a name with “${text}”.`,

  // overview
  'overview.affected': (count: number) =>
    plural(count, { one: '# application affected', other: '# applications affected' }),
  'overview.allLive': 'every registered backend is live',
  'overview.application': 'Application',
  'overview.asleep': 'Asleep',
  'overview.backends': 'Backends',
  'overview.bars': (name: string, bars: number, highest: number) =>
    `${name}: ${bars} bars from the oldest to the newest, at most ${highest} failures in one`,
  'overview.before': (count: string) => `${count} previously`,
  'overview.callLog': 'Call log',
  'overview.changes': 'Last changes',
  'overview.daysOld': (count: number) => plural(count, { one: '# day old', other: '# days old' }),
  'overview.endpoint': 'Endpoint',
  'overview.endpoints': 'Endpoints with failed calls',
  'overview.expires': (days: number) =>
    days === 0 ? 'expires today' : plural(days, { one: 'expires in # day', other: 'expires in # days' }),
  'overview.expiring': (count: number) =>
    plural(count, { one: '# expires in 14 days', other: '# expire in 14 days' }),
  'overview.failed': 'Failed',
  'overview.failedCalls': 'Failed calls',
  'overview.failedRuns': 'Failed runs',
  'overview.hiddenApplications': (count: number) =>
    plural(count, { one: '# more application is not shown.', other: '# more applications are not shown.' }),
  'overview.lastReason': 'Last reason',
  'overview.live': (count: number) => `${count} live`,
  'overview.liveBackends': 'Live backends',
  'overview.noAccess': 'You are not a member of the whole project',
  'overview.noAccessHint':
    'Choose a section in the menu. It lists the tenants and applications of your roles.',
  'overview.noApplications': 'The project has no applications yet.',
  'overview.noBackends': 'no backend is registered',
  'overview.noChanges': 'Nothing has been changed yet.',
  'overview.noFailedCalls': 'No call failed in this time range.',
  'overview.noTokens': 'No token expires in 14 days, and no machine token is older than 90 days.',
  'overview.none': 'None',
  'overview.noneInRange': 'none in this time range',
  'overview.of': (total: string) => `of ${total}`,
  'overview.old': (count: number) => `${count} older than 90 days`,
  'overview.oldestHeartbeat': 'Oldest heartbeat',
  'overview.overTime': 'Over time',
  'overview.partlyLive': (live: number, total: number) => `${live} of ${total} live`,
  'overview.range': 'Time range',
  'overview.range.1h': '1 h',
  'overview.range.24h': '24 h',
  'overview.range.7d': '7 d',
  'overview.refresh': 'Load again',
  'overview.share': (share: string, total: string) => `${share} of ${total}`,
  'overview.since': (time: string) => `Since ${time}`,
  'overview.status': (status: string) => `status ${status}`,
  'overview.tokens': 'Tokens to renew',
}
