import { expect, test } from 'vitest'
import { de } from '../../texts/de.ts'
import { en } from '../../texts/en.ts'
import { createTranslate } from '../../texts/texts.ts'
import { type CronLanguage, describeCron } from './cron-words.ts'

const english: CronLanguage = { t: createTranslate(en), locale: 'en-US' }
const german: CronLanguage = { t: createTranslate(de), locale: 'de-DE' }

test.each([
  ['0 3 * * *', 'At 03:00, every day, UTC'],
  ['CRON_TZ=Europe/Berlin 0 3 * * mon-fri', 'At 03:00, Monday to Friday, Berlin time'],
  ['CRON_TZ=America/New_York 30 8,17 * * 1,3', 'At 08:30 and 17:30, Monday and Wednesday, New York time'],
  ['* * * * *', 'Every minute, UTC'],
  ['*/15 * * * *', 'Every 15 minutes, UTC'],
  ['*/7 * * * *', 'Every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49, and 56, UTC'],
  ['*/15 9-17 * * 1-5', 'Every 15 minutes from 09:00 to 17:59, Monday to Friday, UTC'],
  ['*/10 1,5,9 * * *', 'Every 10 minutes in the hours 1, 5, and 9, UTC'],
  ['0 * * * *', 'Every hour on the hour, UTC'],
  ['20 * * * *', 'Every hour at minute 20, UTC'],
  ['5 */2 * * *', 'Every 2 hours at minute 5, UTC'],
  ['5 9-17 * * *', 'Every hour from 09:05 to 17:05, UTC'],
  ['0 6,9,12,15,18 * * *', 'At 06:00, 09:00, 12:00, 15:00, and 18:00, UTC'],
  ['0 0 1 * *', 'At 00:00, on day 1 of the month, UTC'],
  ['0 0 1-7,15 * *', 'At 00:00, on days 1 to 7 and 15 of the month, UTC'],
  ['0 0 29 2 *', 'At 00:00, on day 29 of the month, in February, UTC'],
  ['0 0 * 6-8 *', 'At 00:00, in June to August, UTC'],
  ['0 0 * * 0', 'At 00:00, Sunday, UTC'],
  ['0 0 * * 6-7', 'At 00:00, Saturday and Sunday, UTC'],
  ['@weekly', 'At 00:00, Sunday, UTC'],
  ['@yearly', 'At 00:00, on day 1 of the month, in January, UTC'],
])('%s is described as "%s"', (expression, words) => {
  expect(describeCron(expression, english)).toBe(words)
})

test('a day must match one of two fields, or both if one of them starts with a star', () => {
  expect(describeCron('0 0 13 * 5', english)).toBe(
    'At 00:00, on day 13 of the month and also every Friday, UTC',
  )
  expect(describeCron('0 0 */10 * 5', english)).toBe(
    'At 00:00, on days 1, 11, 21, and 31 of the month, but only if it is Friday, UTC',
  )
  // Every day matches one of the fields.
  expect(describeCron('0 0 1-31 * 5', english)).toBe('At 00:00, every day, UTC')
})

test.each([
  ['CRON_TZ=Europe/Berlin 0 3 * * mon-fri', 'Um 03:00 Uhr, Montag bis Freitag, Zeitzone Berlin'],
  ['*/15 9-17 * * *', 'Alle 15 Minuten von 09:00 bis 17:59 Uhr, UTC'],
  ['5,35 * * * *', 'Jede Stunde zu den Minuten 5 und 35, UTC'],
  ['0 0 1,15 1,7 *', 'Um 00:00 Uhr, an den Tagen 1 und 15 des Monats, in den Monaten Januar und Juli, UTC'],
  ['0 0 13 * 5', 'Um 00:00 Uhr, am Tag 13 des Monats und außerdem jeden Freitag, UTC'],
])('%s is described in German as "%s"', (expression, words) => {
  expect(describeCron(expression, german)).toBe(words)
})

test.each([
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '5/15 * * * *',
  '9-5 * * * *',
  '*/0 * * * *',
  '@often',
  'mon * * * *',
  'CRON_TZ=Europe/Berlin',
])('"%s" is not described, because the Manager rejects it', (expression) => {
  expect(describeCron(expression, english)).toBe(null)
})
