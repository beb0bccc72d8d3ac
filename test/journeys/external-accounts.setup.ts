import type { TestPlatform } from '../platform.ts';

/** A new customer; its public id. */
export async function addCustomer({ api }: Pick<TestPlatform, 'api'>): Promise<string> {
  const body = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', region: 'US' };
  return (await api('post', '/customers').send(body).expect(201)).body.id;
}

export async function deleteCustomer({ api }: Pick<TestPlatform, 'api'>, id: string): Promise<void> {
  await api('delete', `/customers/${id}`).expect(200);
}
