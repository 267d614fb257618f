// English texts for sections/evidence.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const evidence = {
  // queries
  'evidence.controls': 'Evidence for',
  'evidence.name': 'Name in the API',
  'evidence.noQuery': 'No query matches',
  'evidence.noQueryHint': 'The search covers titles, descriptions and requirements.',
  'evidence.queries': 'Evidence queries',
  'evidence.query': 'Query',
  'evidence.recorded': 'Every run is recorded in the audit trail.',
  'evidence.searchQueries': 'Query or requirement',
  'evidence.view.chains': 'Audit chains',
  'evidence.view.queries': 'Queries',

  // run
  'evidence.allQueries': 'All queries',
  'evidence.asOf': 'As of',
  'evidence.broken': 'The audit trail is broken. Do not rely on these rows.',
  'evidence.content': 'Content',
  'evidence.defaultWindow': 'last 90 days',
  'evidence.from': 'From',
  'evidence.noMatch': 'No row matches',
  'evidence.noMatchHint': 'The search covers all values of the rows.',
  'evidence.noRow': 'No such row',
  'evidence.noRowHint': 'The row is outside of the time window, or the search hides it.',
  'evidence.noRows': 'No rows in this time window',
  'evidence.noRowsHint': 'The query found nothing. Choose a longer time window to look further back.',
  'evidence.row': 'Row',
  'evidence.rowCount': 'Rows',
  'evidence.rows': (count: number) => plural(count, { one: '# row', other: '# rows' }),
  'evidence.rowsOf': (count: string, total: string) => `${count} of ${total}`,
  'evidence.runAgain': 'Run again',
  'evidence.searchRows': 'Any value',
  'evidence.tooLarge': 'The result is too large for this page',
  'evidence.tooLargeHint': 'Choose a shorter time window, or export a CSV file.',
  'evidence.trail': 'Audit trail',
  'evidence.truncated': (count: string) =>
    `Only the newest ${count} rows are here, because more match. Choose a shorter time window.`,
  'evidence.until': 'Until, not included',
  'evidence.verdict.broken': 'broken',
  'evidence.verdict.empty': 'The audit trail is empty.',
  'evidence.verdict.ok': 'The audit trail is intact.',
  'evidence.verifiedEntries': (count: string) => `${count} entries verified`,

  // chains
  'evidence.brokenIn': (projects: string) => `The audit chain is broken in: ${projects}.`,
  'evidence.chain.broken': 'broken',
  'evidence.chain.empty': 'empty',
  'evidence.chain.ok': 'intact',
  'evidence.chain.unverified': 'not verified yet',
  'evidence.chains': 'Audit chains',
  'evidence.entries': 'Entries',
  'evidence.noProject': 'No project matches',
  'evidence.noProjectHint': 'The search covers the names of projects.',
  'evidence.now.broken': 'broken, verified now',
  'evidence.now.empty': 'empty',
  'evidence.now.ok': 'intact, verified now',
  'evidence.now.unverified': 'not verified',
  'evidence.sealed': 'Last checkpoint',
  'evidence.searchProjects': 'Project',
  'evidence.state': 'Chain',
  'evidence.verdictAll': (count: string) =>
    `The Manager reports all ${count} entries of the trail as intact, including those without a project.`,
  'evidence.verifiedAll': (projects: number, entries: string) =>
    plural(projects, {
      one: `Verified the chain of # project (${entries} entries): intact.`,
      other: `Verified the chains of # projects (${entries} entries): intact.`,
    }),
  'evidence.verifiedUpTo': 'Verified up to',
  'evidence.verifyNow': 'Verify now',
  'evidence.verifying': (done: string, total: string, entries: string, project: string) =>
    `${done} of ${total} projects · ${entries} entries · ${project}`,

  // export
  'evidence.exported': (count: number) => plural(count, { one: 'Saved # entry.', other: 'Saved # entries.' }),
  'evidence.exportHint':
    'The file has the entries of all projects and of the installation. Without days, it has all entries. Every export is recorded in the audit trail.',
  'evidence.exportIncomplete':
    'The signed last line is missing, so the file is incomplete. Nothing was saved. Try again.',
  'evidence.exporting': (entries: string, size: string) => `${entries} entries · ${size}`,
  'evidence.exportSigned': (size: string) => `${size}. The last line signs the file.`,
  'evidence.exportTitle': 'Export the audit trail of the installation',
  'evidence.exportTooLarge':
    'The file is too large for this page. The browser can download it, without progress.',
  'evidence.exportTrail': 'Export trail',
}
