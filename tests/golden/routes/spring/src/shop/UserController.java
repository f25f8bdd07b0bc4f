package shop;

import org.springframework.web.bind.annotation.*;

@RestController
@RequestMapping({"/users", "/people"})
public class UserController extends Crud<String> {
    @PatchMapping("/{id}")
    String change(int id) { return ""; }

    @Override
    public void drop(int id) {}
}
