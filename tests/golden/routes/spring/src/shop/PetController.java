package shop;

import org.springframework.web.bind.annotation.RestController;

@RestController
public class PetController implements PetApi {
    @Override
    public String pet(int id) { return ""; }
}
