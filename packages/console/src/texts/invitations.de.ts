// German texts for invitations.
import type { invitations as english } from './invitations.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const invitations: TextsOf<typeof english> = {
  'invitations.accept': 'Einladung annehmen',
  'invitations.accepted': 'Sie sind jetzt Mitglied',
  'invitations.acceptedHint': (object, role) => `Ihre Rolle in ${object} ist ${role}.`,
  'invitations.by': (person) => `Eingeladen von ${person}`,
  'invitations.created': (email) => `Einladung für ${email}`,
  'invitations.days': (count) => plural(count, { one: '# Tag', other: '# Tage' }),
  'invitations.defaultDays': 'Standard',
  'invitations.delivered': (email) =>
    `Der Link wurde zum Versand an ${email} übergeben. Sie können ihn auch selbst senden.`,
  'invitations.email': 'E-Mail-Adresse',
  'invitations.expires': 'Läuft ab',
  'invitations.forAnybody':
    'Jede Person, die den Link erhält, kann die Einladung annehmen. Senden Sie ihn nur auf einem Weg, dem Sie vertrauen.',
  'invitations.invite': 'Einladen',
  'invitations.invitedTo': (object) => `Sie sind zu ${object} eingeladen`,
  'invitations.inviter': 'Eingeladen von',
  'invitations.inviteTo': (object) => `Eine Person zu ${object} einladen`,
  'invitations.kind.application': 'Anwendung',
  'invitations.kind.project': 'Projekt',
  'invitations.kind.tenant': 'Mandant',
  'invitations.link': 'Einladungslink',
  'invitations.many': 'Einladungen',
  'invitations.manyTo': (object) => `Einladungen zu ${object}`,
  'invitations.none': 'Keine offenen Einladungen.',
  'invitations.notDelivered':
    'Der Link konnte nicht zum Versand übergeben werden. Kopieren Sie ihn und senden Sie ihn selbst.',
  'invitations.noToken': 'Keine Einladung in der Adresse',
  'invitations.noTokenHint':
    'Öffnen Sie den Link aus Ihrer Einladung erneut. Wenn Sie sich anmelden mussten, ging der Link verloren.',
  'invitations.one': 'Einladung',
  'invitations.onlyForEmail': 'Nur eine Person, die sich mit dieser E-Mail-Adresse anmeldet, kann annehmen',
  'invitations.open': 'Offene Einladungen',
  'invitations.openProject': (project) => `${project} öffnen`,
  'invitations.revoke': 'Widerrufen',
  'invitations.revoked': (email) => `Die Einladung für ${email} wurde widerrufen`,
  'invitations.revokeHint': 'Der Link funktioniert sofort nicht mehr. Sie können die Person erneut einladen.',
  'invitations.revokeOf': (email) => `Die Einladung für ${email} widerrufen`,
  'invitations.revokeTitle': (email) => `Die Einladung für ${email} widerrufen?`,
  'invitations.sendLink': (email) =>
    `Senden Sie diesen Link an ${email}. Der Manager verschickt keine E-Mails.`,
  'invitations.signedInAs': (email) => `Sie sind als ${email} angemeldet.`,
  'invitations.unusable': 'Sie können diese Einladung nicht verwenden',
  'invitations.unusableHint':
    'Die Einladung ist vielleicht abgelaufen, widerrufen oder schon angenommen, oder sie gilt für eine andere E-Mail-Adresse. Bitten Sie die Person, die Sie eingeladen hat, um einen neuen Link.',
  'invitations.validity': 'Gültig für',
}
