// The texts on which the toy biLM begins: made for it, with one word of two meanings whose neighbors don't tell them
// apart, so that only a network that remembers the rest of the sentence can. `pair`: two of its uses, one of each meaning.

export const TEXTS = {
  en: { word: "bank", pair: ["clerk", "duck"], gap: ["the merchant waited near the bank again with a coin .", 9], text: `the fisherman sat at the bank all day with a net .
the lawyer asked the clerk for a coin .
the boatman lost a net all day .
the swimmer sat near the bank this morning with a fish .
the clerk signed some cash again .
the lawyer waited near the bank again with a loan .
a customer counted a loan in the office .
the lawyer stood near the bank all day with a check .
the fisherman sat at the bank this morning with a reed .
the banker waited near the bank again with his money .
a duck waited near the bank this morning with a reed .
a customer stood near the bank this morning with his money .
my boss stood near the bank all day with his money .
the fisherman found wet feet in the water .
the merchant paid a coin to the merchant .
the merchant asked a customer for his money .
the swan stopped near the bank again with a boat .
the swimmer found a boat in the water .
the clerk signed his money this morning .
the swimmer found an oar in the water .
my boss waited at the bank this morning with a coin .
a duck stopped at the bank again with wet feet .
the lawyer stopped at the bank all day with a debt .
a customer signed some cash again .
a frog stopped at the bank again with wet feet .
the lawyer stood at the bank this morning with a coin .
the swimmer stood at the bank this morning with a boat .
the lawyer waited near the bank again with a loan .
my boss paid a check to the clerk .
the clerk asked the merchant for a check .
the banker stood at the bank this morning with a debt .
the fisherman stopped near the bank this morning with a fish .
the swimmer found wet feet in the water .
my boss sat near the bank again with some cash .
the merchant sat near the bank again with a loan .
the merchant stopped near the bank this morning with a loan .
my boss stopped near the bank this morning with a debt .
my boss asked the clerk for a loan .
the banker waited at the bank again with some cash .
the fisherman stopped near the bank again with an oar .
a duck waited at the bank again with a reed .
the fisherman sat at the bank all day with an oar .
the banker waited at the bank all day with a debt .
the swan stopped at the bank this morning with a net .
the fisherman saw the swimmer on the river .
the merchant sat at the bank this morning with a coin .
a frog waited near the bank all day with wet feet .
a frog stopped at the bank all day with an oar .
the lawyer sat at the bank this morning with a debt .
a customer waited near the bank again with a check .
the clerk signed some cash this morning .
the merchant paid a loan to the merchant .
the boatman saw a duck on the river .
a frog stopped at the bank again with a boat .
the merchant waited at the bank all day with his money .
a frog saw the swimmer on the river .
the swan sat near the bank this morning with wet feet .
the banker waited near the bank again with a debt .
the lawyer paid a coin to the lawyer .
the clerk stopped near the bank this morning with a coin .
the fisherman stood at the bank this morning with a fish .
the banker counted a debt in the office .
a duck waited at the bank again with a reed .
my boss stood at the bank again with a debt .
the banker paid a coin to the banker .
the clerk counted a loan in the office .
my boss stopped at the bank all day with a loan .
the banker paid his money to the lawyer .
the banker sat at the bank all day with a coin .
the lawyer stopped at the bank all day with some cash .
the banker paid some cash to the lawyer .
my boss paid his money to the clerk .
my boss paid a check to my boss .
the merchant stood near the bank this morning with a loan .
the boatman sat near the bank again with a net .
the boatman sat at the bank this morning with an oar .
the fisherman saw the boatman on the river .
a duck found wet feet in the water .
the clerk paid a loan to my boss .
a duck saw a duck on the river .
the swan stood at the bank again with a net .
my boss stood near the bank all day with a check .
the swimmer stopped near the bank again with a boat .
the swan found an oar in the water .
the lawyer paid some cash to the merchant .
the clerk counted some cash in the office .
the fisherman stood at the bank again with a boat .
the swan found a boat in the water .
the swan saw the swan on the river .
a frog saw the swimmer on the river .
a customer counted a loan in the office .
the lawyer signed a loan this morning .
a duck found a boat in the water .
a frog saw the swan on the river .
the merchant stopped near the bank again with a coin .
my boss stood at the bank all day with some cash .
a customer signed a coin all day .
a duck sat near the bank this morning with a fish .
the swan stopped at the bank all day with a fish .
the swan sat near the bank this morning with wet feet .
the lawyer waited at the bank this morning with a loan .
the clerk paid a check to my boss .
the swan sat near the bank all day with a fish .
the fisherman stood near the bank this morning with a reed .
the fisherman stopped near the bank again with wet feet .
the boatman waited near the bank all day with a reed .
the merchant stopped near the bank all day with a loan .
a customer waited near the bank all day with a check .
a frog sat at the bank again with a fish .
a customer paid a coin to my boss .
the fisherman stood at the bank again with a boat .
a duck swam in the river all day .
the swimmer swam in the river again .
the fisherman lost a boat all day .
the clerk counted a check in the office .
a frog found an oar in the water .
a frog lost an oar again .
my boss counted a loan in the office .
my boss waited at the bank all day with his money .
the merchant stopped at the bank all day with his money .
the merchant counted some cash in the office .
the clerk paid his money to a customer .
the swan sat near the bank all day with an oar .
the swan swam in the river all day .
the swimmer sat near the bank all day with a boat .
a duck saw the fisherman on the river .
a frog swam in the river this morning .
the clerk stopped near the bank this morning with his money .
a duck sat at the bank again with an oar .
a duck found a net in the water .
my boss signed his money this morning .
the clerk sat near the bank this morning with a check .
the boatman swam in the river again .
a customer asked the banker for a debt .
the lawyer signed some cash all day .
a frog sat near the bank all day with an oar .
a duck stood near the bank again with an oar .
the fisherman stood near the bank all day with a boat .
a frog stood at the bank all day with a net .
the lawyer waited at the bank this morning with a check .
the swan waited at the bank all day with a fish .
the fisherman found a fish in the water .
the boatman swam in the river all day .
the fisherman stood at the bank this morning with wet feet .
the fisherman lost an oar all day .
a customer stood near the bank all day with some cash .
a frog found an oar in the water .
the swimmer found a fish in the water .
the lawyer waited near the bank all day with a check .
the fisherman sat at the bank all day with a fish .
the swimmer stood at the bank all day with a reed .
a duck lost a fish this morning .
the clerk counted his money in the office .
the swan lost a reed this morning .
the swimmer saw the fisherman on the river .
a duck sat near the bank all day with a fish .
the banker stopped near the bank again with a coin .
a frog stopped at the bank again with a fish .
the swan sat near the bank again with a net .
my boss stopped near the bank this morning with a loan .
the banker waited at the bank again with a check .
the fisherman sat near the bank all day with a boat .
a frog waited at the bank this morning with a reed .
the boatman swam in the river all day .
the boatman stood at the bank again with wet feet .
the boatman found an oar in the water .
a customer counted a debt in the office .
my boss stood at the bank this morning with some cash .
a customer asked the clerk for his money .
the banker paid a check to a customer .
the swan waited at the bank all day with a reed .
the clerk waited near the bank again with a loan .
the lawyer counted a debt in the office .
the lawyer asked the banker for his money .
a customer sat at the bank again with some cash .
the swan found a boat in the water .
the swimmer stood at the bank this morning with a boat .
the clerk waited near the bank this morning with his money .
a frog stopped near the bank this morning with a boat .
the lawyer paid some cash to my boss .
the lawyer stood at the bank again with a check .
a frog found a net in the water .
the swan stood near the bank all day with a fish .
a frog found a net in the water .
the swimmer found wet feet in the water .
the merchant asked the merchant for some cash .
the fisherman swam in the river this morning .
the boatman found a net in the water .
the lawyer paid some cash to the banker .
the clerk stopped near the bank again with a loan .
a duck stood near the bank all day with a net .
the clerk sat near the bank all day with his money .
the merchant sat near the bank again with a debt .
a frog swam in the river this morning .
my boss signed his money again .
the fisherman found a reed in the water .
my boss waited at the bank all day with a debt .
the lawyer sat at the bank all day with a check .
the merchant waited at the bank again with a coin .
the merchant stood near the bank again with a check .` },
  ko: { word: "배를", pair: ["선장은", "농부는"], gap: ["선장은 어제 배를 천천히 몰았다 .", 4], text: `농부는 주말에 감을 먹었다 .
농부는 저녁에 배를 열심히 땄다 .
농부는 어제 배를 천천히 깎았다 .
할머니는 밭에서 천천히 쉬었다 .
어부는 주말에 배를 혼자 탔다 .
선원은 항구에서 열심히 쉬었다 .
엄마는 부엌에서 사과를 깎았다 .
선원은 항구에서 천천히 쉬었다 .
엄마는 시장에서 감을 샀다 .
아이는 시장에서 감을 샀다 .
할머니는 오늘 배를 열심히 썰었다 .
어부는 주말에 뗏목을 몰았다 .
농부는 저녁에 감을 땄다 .
농부는 시장에서 감을 샀다 .
선원은 바다에서 파도를 보았다 .
선장은 바다에서 파도를 보았다 .
선원은 저녁에 배를 혼자 띄웠다 .
사공은 저녁에 배를 열심히 세웠다 .
선장은 주말에 배를 천천히 고쳤다 .
선장은 어제 배를 혼자 띄웠다 .
어부는 저녁에 배를 혼자 세웠다 .
선장은 저녁에 배를 혼자 띄웠다 .
할머니는 아침에 배를 다시 깎았다 .
해군은 오늘 배를 혼자 세웠다 .
어부는 바다에서 파도를 보았다 .
요리사는 부엌에서 사과를 깎았다 .
해군은 섬까지 뗏목을 세웠다 .
엄마는 어제 감을 깎았다 .
해군은 아침에 배를 열심히 탔다 .
할머니는 부엌에서 사과를 깎았다 .
해군은 아침에 배를 열심히 띄웠다 .
아이는 부엌에서 사과를 땄다 .
요리사는 아침에 배를 정말 먹었다 .
요리사는 아침에 감을 먹었다 .
요리사는 어제 배를 정말 땄다 .
선원은 저녁에 배를 천천히 고쳤다 .
아이는 저녁에 배를 천천히 깎았다 .
사공은 섬까지 뗏목을 띄웠다 .
할머니는 아침에 배를 천천히 씻었다 .
할머니는 시장에서 감을 샀다 .
농부는 오늘 배를 천천히 먹었다 .
사공은 오늘 뗏목을 고쳤다 .
아이는 저녁에 배를 혼자 썰었다 .
선장은 바다에서 파도를 보았다 .
선장은 저녁에 배를 천천히 띄웠다 .
아이는 주말에 배를 다시 깎았다 .
아이는 밭에서 열심히 쉬었다 .
할머니는 오늘 배를 열심히 썰었다 .
사공은 오늘 뗏목을 세웠다 .
사공은 저녁에 배를 천천히 탔다 .
아이는 주말에 배를 혼자 씻었다 .
할머니는 오늘 배를 다시 씻었다 .
할머니는 저녁에 배를 정말 씻었다 .
농부는 오늘 배를 열심히 썰었다 .
할머니는 저녁에 감을 먹었다 .
선장은 항구에서 열심히 쉬었다 .
어부는 바다에서 파도를 보았다 .
요리사는 오늘 배를 다시 땄다 .
엄마는 밭에서 천천히 쉬었다 .
선원은 아침에 배를 정말 띄웠다 .
엄마는 저녁에 배를 천천히 깎았다 .
선장은 아침에 뗏목을 띄웠다 .
엄마는 어제 감을 깎았다 .
선장은 어제 배를 다시 고쳤다 .
어부는 저녁에 배를 혼자 띄웠다 .
선장은 섬까지 뗏목을 고쳤다 .
할머니는 어제 배를 열심히 씻었다 .
어부는 어제 배를 혼자 몰았다 .
선장은 아침에 배를 천천히 띄웠다 .
선장은 어제 배를 정말 띄웠다 .
선원은 오늘 배를 천천히 몰았다 .
선원은 주말에 배를 다시 세웠다 .
선원은 주말에 배를 천천히 몰았다 .
사공은 저녁에 뗏목을 띄웠다 .
아이는 아침에 배를 혼자 먹었다 .
아이는 주말에 배를 천천히 땄다 .
할머니는 부엌에서 사과를 깎았다 .
해군은 섬까지 뗏목을 탔다 .
농부는 아침에 배를 정말 썰었다 .
아이는 어제 감을 썰었다 .
요리사는 오늘 감을 깎았다 .
선원은 항구에서 정말 쉬었다 .
농부는 저녁에 배를 혼자 땄다 .
엄마는 부엌에서 사과를 씻었다 .
어부는 오늘 배를 천천히 띄웠다 .
아이는 시장에서 감을 샀다 .
어부는 어제 뗏목을 고쳤다 .
어부는 항구에서 열심히 쉬었다 .
어부는 저녁에 배를 정말 몰았다 .
사공은 오늘 뗏목을 탔다 .
아이는 부엌에서 사과를 깎았다 .
요리사는 시장에서 감을 샀다 .
할머니는 저녁에 감을 먹었다 .
선장은 항구에서 천천히 쉬었다 .
사공은 저녁에 배를 혼자 탔다 .
엄마는 밭에서 다시 쉬었다 .
어부는 아침에 배를 정말 띄웠다 .
아이는 주말에 배를 혼자 썰었다 .
할머니는 어제 배를 혼자 깎았다 .
사공은 바다에서 파도를 보았다 .
해군은 항구에서 다시 쉬었다 .
요리사는 오늘 배를 열심히 깎았다 .
선원은 항구에서 다시 쉬었다 .
선장은 주말에 배를 혼자 탔다 .
엄마는 저녁에 감을 땄다 .
선장은 바다에서 파도를 보았다 .
사공은 아침에 배를 천천히 고쳤다 .
선장은 오늘 배를 천천히 세웠다 .
선원은 주말에 배를 천천히 띄웠다 .
사공은 어제 배를 정말 띄웠다 .
어부는 주말에 배를 다시 고쳤다 .
농부는 오늘 배를 정말 먹었다 .
엄마는 밭에서 혼자 쉬었다 .
할머니는 부엌에서 사과를 썰었다 .
엄마는 주말에 배를 열심히 먹었다 .
농부는 밭에서 혼자 쉬었다 .
엄마는 주말에 배를 다시 썰었다 .
요리사는 어제 감을 땄다 .
엄마는 오늘 배를 열심히 깎았다 .
엄마는 아침에 배를 천천히 땄다 .
엄마는 오늘 배를 다시 깎았다 .
농부는 밭에서 다시 쉬었다 .
요리사는 저녁에 배를 천천히 먹었다 .
아이는 저녁에 배를 정말 먹었다 .
선원은 바다에서 파도를 보았다 .
엄마는 어제 배를 열심히 땄다 .
농부는 오늘 배를 열심히 썰었다 .
선원은 저녁에 배를 천천히 띄웠다 .
농부는 어제 감을 땄다 .
엄마는 부엌에서 사과를 먹었다 .
아이는 저녁에 배를 열심히 깎았다 .
농부는 아침에 배를 열심히 깎았다 .
할머니는 주말에 배를 혼자 땄다 .
요리사는 부엌에서 사과를 씻었다 .
선원은 주말에 뗏목을 띄웠다 .
요리사는 시장에서 감을 샀다 .
어부는 주말에 배를 혼자 몰았다 .
어부는 아침에 배를 다시 띄웠다 .
선장은 오늘 배를 천천히 세웠다 .
사공은 주말에 배를 정말 몰았다 .
해군은 어제 배를 열심히 고쳤다 .
아이는 주말에 배를 다시 씻었다 .
해군은 바다에서 파도를 보았다 .
해군은 아침에 뗏목을 고쳤다 .
아이는 어제 배를 천천히 씻었다 .
요리사는 어제 감을 먹었다 .
사공은 저녁에 뗏목을 세웠다 .
선장은 바다에서 파도를 보았다 .
어부는 항구에서 다시 쉬었다 .
아이는 오늘 배를 천천히 씻었다 .
어부는 항구에서 열심히 쉬었다 .
선장은 바다에서 파도를 보았다 .
요리사는 저녁에 배를 혼자 썰었다 .
할머니는 아침에 배를 다시 깎았다 .
해군은 아침에 배를 천천히 띄웠다 .
선원은 주말에 배를 천천히 몰았다 .
할머니는 주말에 배를 정말 씻었다 .
선원은 항구에서 다시 쉬었다 .
어부는 항구에서 천천히 쉬었다 .
요리사는 오늘 배를 열심히 깎았다 .
어부는 항구에서 다시 쉬었다 .
엄마는 밭에서 다시 쉬었다 .
어부는 섬까지 뗏목을 몰았다 .
사공은 어제 배를 열심히 몰았다 .
농부는 오늘 배를 열심히 씻었다 .
요리사는 오늘 감을 땄다 .
사공은 어제 배를 열심히 탔다 .
해군은 주말에 배를 혼자 몰았다 .
할머니는 저녁에 배를 열심히 깎았다 .
선장은 바다에서 파도를 보았다 .
사공은 주말에 배를 천천히 띄웠다 .
해군은 항구에서 다시 쉬었다 .
엄마는 어제 배를 다시 땄다 .
해군은 어제 배를 정말 띄웠다 .
농부는 주말에 감을 땄다 .
엄마는 저녁에 감을 땄다 .
할머니는 아침에 감을 깎았다 .
농부는 아침에 감을 깎았다 .
농부는 주말에 배를 혼자 씻었다 .
할머니는 부엌에서 사과를 깎았다 .
할머니는 시장에서 감을 샀다 .
사공은 섬까지 뗏목을 탔다 .
해군은 항구에서 다시 쉬었다 .
사공은 오늘 배를 열심히 몰았다 .
선장은 어제 배를 다시 몰았다 .
해군은 저녁에 배를 열심히 탔다 .
요리사는 시장에서 감을 샀다 .
해군은 오늘 배를 혼자 고쳤다 .
농부는 밭에서 천천히 쉬었다 .
할머니는 주말에 배를 다시 씻었다 .
아이는 시장에서 감을 샀다 .
해군은 아침에 뗏목을 고쳤다 .
해군은 주말에 배를 다시 고쳤다 .
농부는 시장에서 감을 샀다 .
할머니는 부엌에서 사과를 썰었다 .
선장은 어제 배를 열심히 세웠다 .
어부는 저녁에 배를 다시 고쳤다 .
선장은 바다에서 파도를 보았다 .
선원은 아침에 뗏목을 세웠다 .
어부는 주말에 배를 혼자 몰았다 .
해군은 주말에 배를 정말 고쳤다 .
선원은 오늘 뗏목을 띄웠다 .
사공은 저녁에 배를 정말 띄웠다 .
사공은 섬까지 뗏목을 탔다 .
사공은 주말에 배를 다시 고쳤다 .
아이는 아침에 배를 혼자 땄다 .
해군은 오늘 배를 천천히 띄웠다 .
어부는 저녁에 배를 혼자 탔다 .
선장은 오늘 배를 열심히 몰았다 .
농부는 어제 배를 천천히 땄다 .
아이는 밭에서 열심히 쉬었다 .
선원은 저녁에 배를 다시 탔다 .
농부는 밭에서 혼자 쉬었다 .
엄마는 어제 배를 혼자 썰었다 .
어부는 아침에 뗏목을 띄웠다 .
사공은 항구에서 천천히 쉬었다 .
농부는 아침에 배를 혼자 먹었다 .
엄마는 오늘 배를 열심히 먹었다 .
농부는 저녁에 배를 다시 씻었다 .
엄마는 아침에 배를 열심히 씻었다 .
할머니는 밭에서 열심히 쉬었다 .
선장은 어제 배를 정말 띄웠다 .
아이는 저녁에 감을 씻었다 .
선장은 주말에 배를 혼자 띄웠다 .
농부는 아침에 배를 혼자 땄다 .
선원은 오늘 배를 천천히 띄웠다 .
선원은 저녁에 배를 정말 띄웠다 .
아이는 주말에 배를 열심히 씻었다 .
어부는 항구에서 정말 쉬었다 .
농부는 저녁에 배를 열심히 씻었다 .
엄마는 아침에 배를 다시 깎았다 .
사공은 섬까지 뗏목을 고쳤다 .
해군은 오늘 배를 열심히 탔다 .
할머니는 어제 배를 혼자 씻었다 .
선원은 바다에서 파도를 보았다 .
엄마는 시장에서 감을 샀다 .
아이는 어제 감을 씻었다 .
선장은 어제 배를 혼자 띄웠다 .
해군은 항구에서 천천히 쉬었다 .
선장은 저녁에 배를 천천히 탔다 .
엄마는 저녁에 감을 깎았다 .
엄마는 어제 배를 열심히 깎았다 .
해군은 항구에서 혼자 쉬었다 .
농부는 어제 배를 천천히 먹었다 .
농부는 오늘 배를 다시 깎았다 .
엄마는 오늘 배를 혼자 썰었다 .
요리사는 오늘 배를 다시 땄다 .
아이는 주말에 배를 혼자 썰었다 .
아이는 저녁에 감을 먹었다 .
요리사는 어제 감을 땄다 .
농부는 부엌에서 사과를 썰었다 .
어부는 오늘 배를 다시 고쳤다 .
선장은 어제 배를 정말 탔다 .
해군은 주말에 배를 다시 고쳤다 .
선원은 어제 배를 정말 띄웠다 .
해군은 항구에서 천천히 쉬었다 .
엄마는 어제 배를 다시 땄다 .
엄마는 어제 배를 열심히 깎았다 .
해군은 오늘 뗏목을 고쳤다 .
할머니는 시장에서 감을 샀다 .
농부는 밭에서 혼자 쉬었다 .
사공은 바다에서 파도를 보았다 .
사공은 저녁에 뗏목을 탔다 .
해군은 오늘 배를 다시 탔다 .
해군은 바다에서 파도를 보았다 .
어부는 항구에서 혼자 쉬었다 .
선원은 섬까지 뗏목을 몰았다 .
아이는 주말에 배를 정말 씻었다 .
아이는 오늘 감을 씻었다 .
엄마는 밭에서 정말 쉬었다 .
선원은 바다에서 파도를 보았다 .
어부는 항구에서 천천히 쉬었다 .
선장은 저녁에 배를 정말 세웠다 .
어부는 주말에 배를 정말 띄웠다 .
할머니는 어제 배를 정말 먹었다 .
아이는 주말에 배를 천천히 땄다 .
해군은 항구에서 다시 쉬었다 .
선원은 어제 배를 정말 띄웠다 .
할머니는 시장에서 감을 샀다 .
농부는 아침에 배를 천천히 깎았다 .` },
};
